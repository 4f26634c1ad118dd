"""Volumes made ready, by a cluster that binds and makes them in its own time."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from posse.binding.preparing import NotPreparedError
from posse.binding.volumes import VolumePreparer
from posse.cluster.records import Bind, Payload, Refused
from posse.cluster.volume_plans import VolumePlan
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.client import Patch
from posse.kube.api.records import Seen
from posse.kube.meta import Metadata
from posse.kube.volumes import PersistentVolumeClaim
from tests.binding.jumping import now, run
from tests.binding.scenes import Scene, bind

SELECTED = "volume.kubernetes.io/selected-node"
Thing = dict[str, Any]
POD = bind("p")

DATA, DISK = "/api/v1/namespaces/ns/persistentvolumeclaims/data", "/api/v1/persistentvolumes/disk"


@dataclass
class Cluster:
    """Objects by path. `answers` are faults, one for each patch, that are answered though it is done, or not."""

    things: dict[str, Thing] = field(default_factory=dict)
    after: Callable[["Cluster", str], None] = lambda cluster, path: None
    """What the cluster does when something was changed."""
    faults: list[tuple[Exception, bool]] = field(default_factory=list)
    patches: list[tuple[str, Thing]] = field(default_factory=list)
    gets: int = 0

    def put(self, path: str, **body: Any) -> Thing:
        meta = {"uid": path.rpartition("/")[2], "resourceVersion": "1", **body.pop("metadata", {})}
        self.things[path] = {"metadata": meta, "spec": {}, **body}
        return self.things[path]

    async def get(self, path: str, *, deadline: float | None = None) -> bytes:
        self.gets += 1
        await asyncio.sleep(0)
        if path not in self.things:
            raise ApiError(404, "NotFound", f"GET {path}: not found")
        return json.dumps(self.things[path]).encode()

    async def patch(self, path: str, body: bytes, kind: Patch = Patch.MERGE) -> bytes:
        await asyncio.sleep(0)
        fault, done = self.faults.pop(0) if self.faults else (None, True)
        if done:
            self._merge(path, json.loads(body))
            self.after(self, path)
        if fault is not None:
            raise fault
        return b"{}"

    def _merge(self, path: str, change: Thing) -> None:
        meta = self.things[path]["metadata"]
        if any(meta[key] != change["metadata"][key] for key in ("uid", "resourceVersion")):
            raise ApiError(409, "Conflict", f"PATCH {path}: the object has been modified")
        self.patches.append((path, change))
        annotations = meta.get("annotations", {}) | change["metadata"].get("annotations", {})
        meta["annotations"] = {key: value for key, value in annotations.items() if value is not None}
        self.things[path]["spec"] |= change.get("spec", {})
        self.touch(path)

    def touch(self, path: str) -> None:
        meta = self.things[path]["metadata"]
        meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)

    def bind(self, claim: str, volume: str) -> None:
        """Do what the controller of volumes does."""
        self.things[claim]["spec"]["volumeName"] = volume
        self.things[claim]["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        self.touch(claim)

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds, do)


def to_be_bound() -> Payload:
    return VolumePlan("data", volume="disk", volume_uid="disk").for_claim("ns/data")


def to_be_made(node: str = "n1") -> Payload:
    return VolumePlan("data", node=node).for_claim("ns/data")


def preparer(cluster: Cluster, **more: Any) -> VolumePreparer:
    return VolumePreparer(cluster, may_bind=lambda: True, random=lambda: 0.5, **more)


def prepared(cluster: Cluster, payload: Payload, pod: Bind = POD) -> float:
    """How long it took to make a volume ready."""

    async def story() -> float:
        await preparer(cluster).prepare(pod, payload)
        return now()

    return run(story())


def why_not(cluster: Cluster, payload: Payload, pod: Bind = POD) -> str:
    with pytest.raises(NotPreparedError) as fault:
        prepared(cluster, payload, pod)
    return str(fault.value)


def binds_at_once(cluster: Cluster, path: str) -> None:
    cluster.bind(DATA, cluster.things[DISK]["metadata"]["uid"] if path == DISK else "made")


def with_volume(**spec: Any) -> Cluster:
    cluster = Cluster(after=binds_at_once)
    cluster.put(DATA)
    cluster.put(DISK, spec=spec)
    return cluster


def test_a_chosen_volume_is_kept_for_its_claim_and_waited_for() -> None:
    cluster = with_volume()
    prepared(cluster, to_be_bound())
    ((path, change),) = cluster.patches

    assert path == DISK
    assert change["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert change["spec"]["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "ns",
        "name": "data",
        "uid": "data",
        "resourceVersion": "1",
    }


def test_one_that_the_user_has_kept_for_it_learns_which_claim_is_meant() -> None:
    cluster = with_volume(claimRef={"namespace": "ns", "name": "data"})
    prepared(cluster, to_be_bound())
    ((_, change),) = cluster.patches

    assert change["spec"]["claimRef"]["uid"] == "data"
    assert "annotations" not in change["metadata"]


def test_what_is_ready_already_is_left_alone() -> None:
    cluster = with_volume()
    cluster.bind(DATA, "disk")
    prepared(cluster, to_be_bound())

    assert cluster.patches == []


def test_a_volume_that_is_to_be_made_is_asked_for_at_the_node() -> None:
    cluster = Cluster(after=lambda made, path: made.later(30, lambda: made.bind(DATA, "made")))
    cluster.put(DATA)

    assert 30 <= prepared(cluster, to_be_made()) < 40
    assert [change["metadata"]["annotations"] for _, change in cluster.patches] == [{SELECTED: "n1"}]
    assert cluster.gets < 15


def test_news_of_the_claim_end_the_waiting() -> None:
    async def story() -> float:
        cluster = Cluster()
        cluster.put(DATA)
        volumes = preparer(cluster)

        def is_bound() -> None:
            cluster.bind(DATA, "made")
            volumes.put(Seen(PersistentVolumeClaim(metadata=Metadata(name="data", namespace="ns"))))

        cluster.later(30, is_bound)
        await volumes.prepare(bind("p"), to_be_made())
        return now()

    assert run(story()) == 30


def gone(cluster: Cluster) -> None:
    del cluster.things[DATA]


def replaced(cluster: Cluster) -> None:
    cluster.put(DATA, metadata={"uid": "another"})


def kept_for_another(cluster: Cluster) -> None:
    cluster.things[DISK]["spec"]["claimRef"] = {"namespace": "ns", "name": "other", "uid": "x"}


def has_another(cluster: Cluster) -> None:
    cluster.bind(DATA, "other-disk")


def volume_gone(cluster: Cluster) -> None:
    del cluster.things[DISK]


def volume_replaced(cluster: Cluster) -> None:
    cluster.put(DISK, metadata={"uid": "another"})


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (gone, "the claim is gone"),
        (replaced, "the claim is gone: another has its name"),
        (kept_for_another, "volume disk is kept for claim ns/other"),
        (has_another, "it has volume other-disk by now, not disk"),
        (volume_gone, "volume disk is gone"),
        (volume_replaced, "volume disk is gone: another has its name"),
    ],
)
def test_what_cannot_be_had_is_told(happens: Callable[[Cluster], None], why: str) -> None:
    cluster = with_volume()
    happens(cluster)

    assert why_not(cluster, to_be_bound()) == why


def test_a_volume_that_could_not_be_made_is_no_longer_asked_for_by_who_makes_them() -> None:
    def gives_up(cluster: Cluster) -> None:
        cluster.things[DATA]["metadata"]["annotations"] = {}
        cluster.touch(DATA)

    cluster = Cluster(after=lambda made, path: made.later(5, lambda: gives_up(made)))
    cluster.put(DATA)

    assert why_not(cluster, to_be_made()) == "no volume could be made at n1"


def test_one_that_is_being_made_elsewhere_is_not_asked_for_here() -> None:
    cluster = Cluster()
    cluster.put(DATA, metadata={"annotations": {SELECTED: "n9"}})

    assert why_not(cluster, to_be_made()) == "its volume is being made at n9"


@pytest.mark.parametrize(("zone", "is_reached"), [("east", True), ("west", False)])
def test_a_pod_elsewhere_must_reach_what_was_made(zone: str, is_reached: bool) -> None:
    east = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}
    cluster = Cluster(after=binds_at_once)
    cluster.put(DATA)
    cluster.put("/api/v1/persistentvolumes/made", spec={"nodeAffinity": {"required": {"nodeSelectorTerms": [east]}}})
    cluster.put("/api/v1/nodes/n2", metadata={"labels": {"zone": zone}})

    if is_reached:
        prepared(cluster, to_be_made(), bind("p", node="n2"))
    else:
        why = why_not(cluster, to_be_made(), bind("p", node="n2"))
        assert why == "its volume, made at n1, cannot be reached from n2"


@pytest.mark.parametrize(
    "faults",
    [
        [(LostError("no connection", sent=False), False)],
        [(LostError("cut off"), True)],
        [(ApiError(409, "Conflict", "PATCH /x: the object has been modified"), False)],
        [(ApiError(503, "Unavailable", "PATCH /x: etcd is away"), False)] * 3,
        [(ApiError(429, "TooManyRequests", "PATCH /x: busy"), False)],
    ],
)
def test_what_may_pass_is_waited_out(faults: list[tuple[Exception, bool]]) -> None:
    cluster = with_volume()
    cluster.faults = list(faults)
    prepared(cluster, to_be_bound())

    assert len(cluster.patches) == 1


def test_a_refusal_is_told_in_the_servers_words() -> None:
    cluster = with_volume()
    cluster.faults = [(ApiError(403, "Forbidden", "PATCH /api/v1/x: admission says no"), False)]

    assert why_not(cluster, to_be_bound()) == "admission says no"


def test_who_does_not_lead_changes_nothing() -> None:
    cluster = with_volume()

    async def story() -> None:
        await VolumePreparer(cluster, may_bind=lambda: False).prepare(bind("p"), to_be_bound())

    with pytest.raises(NotPreparedError, match="not the leader"):
        run(story())
    assert cluster.patches == []


def asked(cluster: Cluster) -> str | None:
    found: str | None = cluster.things[DATA]["metadata"].get("annotations", {}).get(SELECTED)
    return found


async def given_up(volumes: VolumePreparer, *binds: Bind) -> None:
    """Ask for a volume for each of these pods, and give up after a while."""
    for each in binds:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(20):
                await volumes.prepare(each, to_be_made())


def test_a_volume_that_is_not_made_yet_is_no_longer_asked_for_when_undone() -> None:
    cluster = Cluster()
    cluster.put(DATA)

    async def story() -> None:
        volumes = preparer(cluster)
        await given_up(volumes, bind("p"))
        assert asked(cluster) == "n1"
        await volumes.undo(bind("p"), to_be_made())

    run(story())
    assert asked(cluster) is None


def test_not_while_another_pod_needs_it() -> None:
    cluster = Cluster()
    cluster.put(DATA)

    async def story() -> None:
        volumes = preparer(cluster)
        await given_up(volumes, bind("p"), bind("q"))
        await volumes.undo(bind("p"), to_be_made())
        assert asked(cluster) == "n1"
        await volumes.undo(bind("q"), to_be_made())

    run(story())
    assert asked(cluster) is None


def test_nor_if_somebody_else_had_asked_for_it() -> None:
    cluster = Cluster()
    cluster.put(DATA, metadata={"annotations": {SELECTED: "n1"}})

    async def story() -> None:
        volumes = preparer(cluster)
        await given_up(volumes, bind("p"))
        await volumes.undo(bind("p"), to_be_made())

    run(story())
    assert asked(cluster) == "n1"


def test_nor_if_it_is_there_by_now() -> None:
    cluster = Cluster()
    cluster.put(DATA)

    async def story() -> None:
        volumes = preparer(cluster)
        await given_up(volumes, bind("p"))
        cluster.bind(DATA, "made")
        await volumes.undo(bind("p"), to_be_made())

    run(story())
    assert asked(cluster) == "n1"


def test_undoing_for_a_claim_that_is_gone_is_done() -> None:
    cluster = Cluster()
    cluster.put(DATA)

    async def story() -> None:
        volumes = preparer(cluster)
        await given_up(volumes, bind("p"))
        gone(cluster)
        await volumes.undo(bind("p"), to_be_made())

    run(story())


def test_a_gang_one_of_whose_volumes_cannot_be_made_asks_for_none_and_is_not_bound() -> None:
    async def story() -> tuple[list[str], str | None]:
        cluster = Cluster()
        cluster.put(DATA)
        pair = [
            bind("a", payloads=(to_be_made(),)),
            bind("b", payloads=(VolumePlan("x", node="n1").for_claim("ns/not-there"),)),
        ]
        stage = Scene().with_pods_of(pair)
        binder = stage.binder(preparers={"volume": preparer(cluster)})
        binder.carry_out(pair)
        await binder.drain(1000)
        assert all(isinstance(each, Refused) for each in stage.outcomes)
        return stage.told, asked(cluster)

    told, left = run(story())
    assert told == [f"{name}: volume ns/not-there: the claim is gone" for name in "ab"]
    assert left is None
