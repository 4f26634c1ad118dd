"""What a cycle found is said on the objects that it concerns: once, the last word, nobody else's words undone."""

import asyncio
import json
from typing import Any, cast

from posse.cluster.facts import Amounts
from posse.cluster.records import CycleResult
from posse.cluster.verdict import PodVerdict, QueueVerdict, Verdict
from posse.kube.api.answers import ApiError
from posse.kube.api.client import ApiClient, Patch
from posse.kube.api.events import EventRecorder
from posse.kube.api.records import Seen, Vanished
from posse.kube.meta import Metadata
from posse.kube.objects import PodGroup, Queue
from posse.kube.pods import Condition, Pod, PodStatus
from posse.live.reports import Reports


class Server:
    """Takes patches, and remembers them."""

    def __init__(self, *, has_status: bool = True) -> None:
        self.has_status = has_status
        self.patches: list[tuple[str, dict[str, Any]]] = []
        self.events: list[str] = []

    async def patch(self, path: str, body: bytes, form: Patch, *, repeat: bool = False) -> bytes:
        if path.endswith("/status") and not self.has_status:
            raise ApiError(404, "NotFound", "no such part", {}, 0.0)
        self.patches.append((path, json.loads(body)["status"]))
        return b""

    def tell(self, about: object, reason: str, note: str, *, type: str = "Normal", action: str = "") -> None:  # noqa: A002
        self.events.append(f"{reason}: {note}")


def reports(server: Server) -> Reports:
    return Reports(cast(ApiClient, server), cast(EventRecorder, server))


async def written(of: Reports) -> None:
    """Write all that waits."""
    writing = asyncio.create_task(of.run())
    for _ in range(20):
        await asyncio.sleep(0)
    writing.cancel()


def group(name: str = "a") -> Seen:
    return Seen(PodGroup(metadata=Metadata(name=name, namespace="team", uid=f"uid-{name}")))


def verdict(ready: int = 0, *pods: PodVerdict, message: str = "not ready") -> Verdict:
    return Verdict(
        gang="team/a",
        uid="uid-a",
        cycle=1,
        state="waiting",
        phase="Running" if ready == 2 else "Inqueue",
        minimum=2,
        members=2,
        ready=ready,
        running=0,
        pending=2 - ready,
        succeeded=0,
        failed=0,
        was_ready=ready == 2,
        message=message,
        pods=pods,
    )


def waits(name: str = "p", nominated: str = "", message: str = "no room") -> PodVerdict:
    return PodVerdict(
        pod=f"team/{name}", uid=f"uid-{name}", reason="Unschedulable", message=message, nominated=nominated
    )


def told(of: Reports, *verdicts: Verdict, queues: tuple[QueueVerdict, ...] = ()) -> None:
    of(0, CycleResult(1, (), verdicts, queues))


def run(scene: Any) -> Server:
    server = Server()
    asyncio.run(scene(server, reports(server)))
    return server


def test_a_group_says_how_it_stands_and_only_what_is_new() -> None:
    async def scene(server: Server, of: Reports) -> None:
        of.put(group())
        for _ in range(3):
            told(of, verdict())
            await written(of)

    (patch,) = run(scene).patches
    assert patch[0] == "/apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups/a/status"
    assert (patch[1]["phase"], patch[1]["running"]) == ("Inqueue", 0)


def test_who_changes_faster_than_it_can_be_told_is_told_last() -> None:
    async def scene(server: Server, of: Reports) -> None:
        of.put(group())
        told(of, verdict())
        told(of, verdict(2))
        await written(of)

    assert [status["phase"] for _, status in run(scene).patches] == ["Running"]


def test_where_a_kind_has_no_part_for_its_status_the_object_has_it() -> None:
    server = Server(has_status=False)
    of = reports(server)

    async def scene() -> None:
        of.put(group())
        told(of, verdict())
        await written(of)

    asyncio.run(scene())
    assert [path for path, _ in server.patches] == ["/apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups/a"]
    assert of.failures == 0


def test_a_gang_without_an_object_is_told_through_its_pod() -> None:
    async def scene(server: Server, of: Reports) -> None:
        told(of, verdict(0, waits()))
        await written(of)

    server = run(scene)
    ((path, status),) = server.patches
    assert path == "/api/v1/namespaces/team/pods/p/status"
    assert status["conditions"][0]["reason"] == "Unschedulable"
    assert server.events == ["FailedScheduling: no room"]


def test_what_a_pod_says_already_is_not_said_again() -> None:
    async def scene(server: Server, of: Reports) -> None:
        condition = Condition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")
        meta = Metadata(name="p", namespace="team", uid="uid-p")
        of.put(Seen(Pod(metadata=meta, status=PodStatus(conditions=(condition,)))))
        told(of, verdict(0, waits()))
        await written(of)

    assert run(scene).patches == []


def test_a_pod_says_since_when_it_waits_whatever_it_waits_for() -> None:
    second = 1_000_000_000

    async def scene(server: Server, of: Reports) -> None:
        for at, message in enumerate(["no room", "no room at all"]):
            of(at * second + second, CycleResult(1, (), (verdict(0, waits(message=message)),)))
            await written(of)

    conditions = [status["conditions"][0] for _, status in run(scene).patches]
    assert [(it["message"], it["lastTransitionTime"]) for it in conditions] == [
        ("no room", "1970-01-01T00:00:01Z"),
        ("no room at all", "1970-01-01T00:00:01Z"),
    ]


def test_we_take_back_our_own_nominations_and_nobody_elses() -> None:
    async def scene(server: Server, of: Reports) -> None:
        theirs = Metadata(name="theirs", namespace="team", uid="uid-theirs")
        of.put(Seen(Pod(metadata=theirs, status=PodStatus(nominated_node_name="n9"))))
        told(of, verdict(0, waits("ours", nominated="n1"), waits("theirs")))
        await written(of)
        told(of, verdict(0, waits("ours", message="still none"), waits("theirs", message="still none")))
        await written(of)

    said = [(path.split("/")[-2], status.get("nominatedNodeName")) for path, status in run(scene).patches]
    assert said == [("ours", "n1"), ("theirs", None), ("ours", ""), ("theirs", None)]


def test_a_queue_says_what_it_has_and_what_it_no_longer_has() -> None:
    both: Amounts = (("cpu", 2000), ("nvidia.com/gpu", 1000))
    one: Amounts = (("cpu", 1000),)

    async def scene(server: Server, of: Reports) -> None:
        of.put(Seen(Queue(metadata=Metadata(name="q", uid="uid-q"))))
        for allocated in (both, both, one):
            told(of, queues=tuple(QueueVerdict(queue=name, allocated=allocated) for name in ("q", "assumed")))
            await written(of)

    assert [status for _, status in run(scene).patches] == [
        {"state": "Open", "allocated": {"cpu": "2", "nvidia.com/gpu": "1"}},
        {"state": "Open", "allocated": {"cpu": "1", "nvidia.com/gpu": None}},
    ]


def test_an_object_that_is_gone_is_told_nothing() -> None:
    async def scene(server: Server, of: Reports) -> None:
        of.put(group())
        of.put(Vanished(PodGroup, "team", "a", "uid-a"))
        told(of, verdict())
        await written(of)

    assert run(scene).patches == []
