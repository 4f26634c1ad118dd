"""The client against a real API server, faults included."""

import asyncio
import json
import stat
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from posse.kube.api.access import find_access
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient, Patch
from posse.kube.api.events import EventRecorder, reference_to
from posse.kube.api.leases import Candidate, LeaseTiming
from posse.kube.api.records import Interrupted, Record, Seen, Synced, Unreadable, Vanished
from posse.kube.api.resources import is_served, resource_of
from posse.kube.api.watching import Selection, Timing, Watch
from posse.kube.objects import KINDS, Pod, Queue
from tests.cluster.control_plane import ControlPlane
from tests.kube.api.fakes import Clock

PODS = resource_of(Pod)
PATIENCE = 120.0
"""Seconds that anything may take, on a machine that has other things to do."""
SOON = Timing(quiet=3.0, backoff=Backoff(first=0.1, longest=0.5))


def manifest(name: str, **spec: Any) -> bytes:
    body = {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "none"}], **spec}}
    return json.dumps(body).encode()


async def make_pods(client: ApiClient, namespace: str, names: list[str]) -> dict[str, str]:
    """Make pods, and give their uids."""
    answers = await asyncio.gather(*(client.create(PODS.path(namespace), manifest(name)) for name in names))
    return {name: json.loads(answer)["metadata"]["uid"] for name, answer in zip(names, answers, strict=True)}


def with_client(plane: ControlPlane, use: Callable[[ApiClient], Awaitable[Any]], kubeconfig: Path | None = None) -> Any:
    async def story() -> Any:
        async with asyncio.timeout(PATIENCE), ApiClient(find_access({}, str(kubeconfig or plane.kubeconfig))) as client:
            return await use(client)

    return asyncio.run(story())


class View:
    """What somebody knows who listens to a watch."""

    def __init__(self) -> None:
        self.there: dict[str, Seen] = {}
        self.told: Counter[type[Record]] = Counter()
        self.vanished: list[Vanished] = []
        self.interruptions: list[str] = []
        self.moved = asyncio.Event()

    def take(self, records: list[Record]) -> None:
        for record in records:
            self.told[type(record)] += 1
            match record:
                case Seen(it):
                    self.there[it.metadata.name] = record
                case Vanished():
                    self.vanished.append(record)
                    assert self.there.pop(record.name).object.metadata.uid == record.uid
                case Interrupted(_, why):
                    self.interruptions.append(why)
        self.moved.set()

    async def until(self, question: Callable[[], bool]) -> None:
        while not question():
            self.moved.clear()
            await self.moved.wait()

    def node_of(self, name: str) -> str:
        it = self.there[name].object
        assert isinstance(it, Pod)
        return it.spec.node_name


@asynccontextmanager
async def listening(
    client: ApiClient, selection: Selection, timing: Timing = SOON, *, streaming: bool = True, **more: Any
) -> AsyncIterator[View]:
    """Listen to pods, and have heard what is there."""
    view = View()
    watch = Watch(client, PODS, selection, timing=timing, **more)
    watch._streams_lists = streaming

    async def listen() -> None:
        async with aclosing(watch.records()) as batches:
            async for records in batches:
                view.take(records)

    task = asyncio.create_task(listen())
    try:
        await view.until(lambda: view.told[Synced] > 0)
        yield view
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("streaming", [True, False])
def test_two_thousand_pods_are_listed_and_followed(
    control_plane: ControlPlane, namespace: str, streaming: bool
) -> None:
    names = [f"p{number:04}" for number in range(2000)]

    async def use(client: ApiClient) -> None:
        uids = await make_pods(client, namespace, names)
        async with listening(client, Selection(namespace), streaming=streaming) as view:
            assert {name: it.object.metadata.uid for name, it in view.there.items()} == uids
            await asyncio.gather(*(client.bind(namespace, name, uids[name], f"n{name}") for name in names[:500]))
            await asyncio.gather(
                *(client.delete(PODS.path(namespace, it), uid=uids[it], grace=0) for it in names[1500:])
            )
            await view.until(lambda: len(view.there) == 1500 and view.node_of(names[499]) == f"n{names[499]}")
            await view.until(lambda: all(view.node_of(it) for it in names[:500]))
            assert {it.name: it.uid for it in view.vanished} == {name: uids[name] for name in names[1500:]}

    with_client(control_plane, use)


def test_a_list_is_read_in_pages_as_of_one_moment(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, [f"p{number}" for number in range(25)])
        pages = []
        async for page in client.list(PODS.path(namespace), limit=10):
            pages.append(page)
            await client.create(PODS.path(namespace), manifest(f"later-{len(pages)}"))
        assert [len(page.items) for page in pages] == [10, 10, 5]
        assert len({page.version for page in pages}) == 1

    with_client(control_plane, use)


def test_selectors_choose_on_the_server(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        uids = await make_pods(client, namespace, ["a", "b"])
        async with listening(client, Selection(namespace, fields="spec.nodeName=")) as view:
            assert set(view.there) == {"a", "b"}
            await client.bind(namespace, "a", uids["a"], "n")
            await view.until(lambda: set(view.there) == {"b"})
        await client.patch(PODS.path(namespace, "b"), b'{"metadata":{"labels":{"team":"x"}}}')
        async with listening(client, Selection(namespace, labels="team in (x)")) as view:
            assert set(view.there) == {"b"}

    with_client(control_plane, use)


def test_binding_says_why_not(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        uids = await make_pods(client, namespace, ["a"])
        await client.create(PODS.path(namespace), manifest("gated", schedulingGates=[{"name": "x.dev/wait"}]))
        refusals = []
        for name, uid in (("a", "another"), ("gated", ""), ("absent", "")):
            with pytest.raises(ApiError) as refusal:
                await client.bind(namespace, name, uid or uids["a"], "n")
            refusals.append((refusal.value.status, refusal.value.reason))
        await client.bind(namespace, "a", uids["a"], "n")
        with pytest.raises(ApiError, match='already assigned to node "n"') as refusal:
            await client.bind(namespace, "a", uids["a"], "n")
        assert refusals == [(409, "Conflict"), (409, "Conflict"), (404, "NotFound")]

    with_client(control_plane, use)


def test_each_way_to_change_something(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        path = PODS.path(namespace, "a")
        uids = await make_pods(client, namespace, ["a"])
        await client.patch(path, b'{"metadata":{"labels":{"merge":"1"}}}')
        await client.patch(path, b'[{"op":"add","path":"/metadata/labels/json","value":"1"}]', Patch.JSON)
        condition = b'{"status":{"conditions":[{"type":"%b","status":"True"}]}}'
        for kind in (b"One", b"Two"):
            await client.patch(PODS.path(namespace, "a", "status"), condition % kind, Patch.STRATEGIC)
        applied = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"apply": "1"}}}
        await client.apply(path, json.dumps(applied).encode(), manager="posse-test")
        told = json.loads(await client.get(path))
        assert told["metadata"]["labels"] == {"merge": "1", "json": "1", "apply": "1"}
        assert {it["type"] for it in told["status"]["conditions"]} == {"One", "Two"}
        told["metadata"]["resourceVersion"] = "1"
        with pytest.raises(ApiError, match="409 Conflict"):
            await client.replace(path, json.dumps(told).encode())
        with pytest.raises(ApiError, match="409 Conflict"):
            await client.delete(path, uid="another")
        await client.evict(namespace, "a", uids["a"])
        with pytest.raises(ApiError, match="404 NotFound"):
            await client.get(path)

    with_client(control_plane, use)


def test_a_budget_refuses_evictions_and_nobody_waits(
    control_plane: ControlPlane, namespace: str, controller_manager: object
) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}}

    async def use(client: ApiClient) -> None:
        budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
        uids = await make_pods(client, namespace, ["a"])
        await client.bind(namespace, "a", uids["a"], "n")
        running = b'{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
        await client.patch(PODS.path(namespace, "a", "status"), running, Patch.STRATEGIC)
        await client.create(budgets, json.dumps(budget).encode())
        while json.loads(await client.get(f"{budgets}/b")).get("status", {}).get("currentHealthy", 0) < 1:
            await asyncio.sleep(0.05)
        with pytest.raises(ApiError) as refusal:
            await client.evict(namespace, "a", uids["a"])
        assert refusal.value.by_budget
        assert not refusal.value.busy

    with_client(control_plane, use)


def test_who_has_no_rights_is_told_by_type(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        with pytest.raises(ApiError) as refusal:
            async for _ in Watch(client, PODS, Selection(namespace)).records():
                pass
        assert (refusal.value.status, refusal.value.reason) == (403, "Forbidden")
        assert refusal.value.details.kind == "pods"

    with_client(control_plane, use, control_plane.service_account(namespace, "nobody"))


def test_a_server_that_is_not_the_one_is_not_talked_to(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text("utf-8"))
    (cluster,) = config["clusters"]
    stories = {"tls-server-name": "somebody.else", "certificate-authority": ""}
    for field, value in stories.items():
        changed = {**config, "clusters": [{**cluster, "cluster": {**cluster["cluster"], field: value}}]}
        (tmp_path / "config").write_text(yaml.safe_dump(changed))

        async def use(client: ApiClient) -> None:
            client._backoff = Backoff(attempts=1)
            with pytest.raises(LostError, match="certificate verify failed") as lost:
                await client.get("/version")
            assert not lost.value.sent

        with_client(control_plane, use, tmp_path / "config")


def test_another_name_of_the_server_can_be_said(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text("utf-8"))
    config["clusters"][0]["cluster"]["tls-server-name"] = "kubernetes.default.svc"
    (tmp_path / "config").write_text(yaml.safe_dump(config))

    assert b"gitVersion" in with_client(control_plane, lambda client: client.get("/version"), tmp_path / "config")


def logged_in_by(plane: ControlPlane, folder: Path, **user: Any) -> Path:
    config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = user
    (folder / "config").write_text(yaml.safe_dump(config))
    return folder / "config"


def token(plane: ControlPlane, namespace: str, name: str) -> str:
    config = yaml.safe_load(plane.service_account(namespace, name).read_text("utf-8"))
    told: str = config["users"][0]["user"]["token"]
    return told


async def who_am_i(client: ApiClient) -> str:
    body = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
    told = json.loads(await client.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", body))
    name: str = told["status"]["userInfo"]["username"]
    return name.rpartition(":")[2]


def plugin(folder: Path, **status: str) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    (folder / "credential").write_text(json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status}))
    (folder / "login").write_text(f"#!{sys.executable}\nprint(open({str(folder / 'credential')!r}).read())\n")
    (folder / "login").chmod(stat.S_IRWXU)
    return {"exec": {"apiVersion": version, "command": "./login"}}


def test_a_program_logs_us_in_by_token(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    user = plugin(tmp_path, token=token(control_plane, namespace, "ann"))

    assert with_client(control_plane, who_am_i, logged_in_by(control_plane, tmp_path, **user)) == "ann"


def test_a_program_logs_us_in_by_certificate_and_can_change_it(control_plane: ControlPlane, tmp_path: Path) -> None:
    def certificate_of(name: str) -> dict[str, str]:
        told = yaml.safe_load(control_plane.kubeconfig_for(name).read_text("utf-8"))["users"][0]["user"]
        pair = (Path(told["client-certificate"]).read_text(), Path(told["client-key"]).read_text())
        return dict(zip(("clientCertificateData", "clientKeyData"), pair, strict=True))

    async def use(client: ApiClient) -> list[str]:
        first = await who_am_i(client)
        plugin(tmp_path, **certificate_of("ben"))
        client._credentials.refused(await client._credentials.current())
        return [first, await who_am_i(client)]

    user = plugin(tmp_path, **certificate_of("ann"))
    assert with_client(control_plane, use, logged_in_by(control_plane, tmp_path, **user)) == ["ann", "ben"]


def test_a_token_that_is_replaced_in_its_file_is_taken(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    tokens = [token(control_plane, namespace, name) for name in ("ann", "ben")]
    (tmp_path / "token").write_text(tokens[0])
    clock = Clock()

    async def story() -> list[str]:
        access = find_access({}, str(logged_in_by(control_plane, tmp_path, tokenFile="token")), clock=clock)
        async with ApiClient(access) as client:
            first = await who_am_i(client)
            (tmp_path / "token").write_text(tokens[1])
            clock.now += 60
            second = await who_am_i(client)
            (tmp_path / "token").write_text("expired")
            clock.now += 60
            await access.credentials.current()
            (tmp_path / "token").write_text(tokens[0])
            return [first, second, await who_am_i(client)]

    assert asyncio.run(story()) == ["ann", "ben", "ann"]


def test_one_acts_as_somebody_else(control_plane: ControlPlane, tmp_path: Path) -> None:
    own = yaml.safe_load(control_plane.kubeconfig.read_text("utf-8"))["users"][0]["user"]

    assert with_client(control_plane, who_am_i, logged_in_by(control_plane, tmp_path, **own, **{"as": "ann"})) == "ann"


def test_what_is_served_can_be_asked(control_plane: ControlPlane) -> None:
    async def use(client: ApiClient) -> list[bool]:
        return [await is_served(client, resource_of(kind)) for kind in (Pod, Queue)]

    assert with_client(control_plane, use) == [True, False]


def test_every_kind_whose_group_is_served_is_where_we_look(control_plane: ControlPlane) -> None:
    async def use(client: ApiClient) -> dict[str, bool]:
        found = {}
        for kind in KINDS.values():
            with suppress(ApiError):
                await client.get(resource_of(kind).group_path)
                found[kind.KIND] = await is_served(client, resource_of(kind))
        return found

    found = with_client(control_plane, use)
    assert {"Pod", "PriorityClass", "LimitRange", "PodDisruptionBudget", "CronJob"} <= found.keys()
    assert all(found.values())


def test_an_object_that_makes_no_sense_to_us_is_told_as_such(control_plane: ControlPlane) -> None:
    group = "scheduling.volcano.sh"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    names = {"plural": "queues", "singular": "queue", "kind": "Queue"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"queues.{group}"},
        "spec": {"group": group, "scope": "Cluster", "names": names, "versions": [version]},
    }
    queues = resource_of(Queue)

    def queue(name: str, weight: Any) -> bytes:
        body = {
            "apiVersion": f"{group}/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": {"weight": weight},
        }
        return json.dumps(body).encode()

    async def use(client: ApiClient) -> list[Record]:
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        await client.create(crds, json.dumps(crd).encode())
        try:
            while not await is_served(client, queues):
                await asyncio.sleep(0.05)
            for name, weight in (("bad", "heavy"), ("good", 3)):
                await created(client, queues.path(), queue(name, weight))
            told: list[Record] = []
            async with aclosing(Watch(client, queues, timing=SOON).records()) as batches:
                async for records in batches:
                    told += [it for it in records if not isinstance(it, Interrupted)]
                    if any(isinstance(it, Synced) for it in records):
                        return told
        finally:
            await client.delete(f"{crds}/queues.{group}")
        raise AssertionError

    told = with_client(control_plane, use)
    assert [type(it) for it in told] == [Unreadable, Seen, Synced]
    assert "Queue bad, spec.weight" in told[0].why
    assert told[0].uid


async def created(client: ApiClient, path: str, body: bytes) -> None:
    """Create, as soon as the server is ready for a kind that it has just learned of."""
    while True:
        try:
            await client.create(path, body)
            return
        except ApiError as refusal:
            if refusal.status not in (404, 429, 503):
                raise
            await asyncio.sleep(0.05)


def test_of_two_candidates_the_one_that_stands_still_loses(control_plane: ControlPlane, namespace: str) -> None:
    timing = LeaseTiming(duration=3.0, renew_within=2.0, retry=0.3)

    async def use(client: ApiClient) -> None:
        a, b = (Candidate(client, namespace, "posse", name, timing=timing) for name in ("a", "b"))
        assert await a.try_once()
        assert not await b.try_once()
        second = asyncio.create_task(b.run())
        while not b.is_leader:  # a does nothing any more, as if it stood still
            assert not (a.is_leader and b.is_leader)
            await asyncio.sleep(0.01)
        assert not a.is_leader
        assert not await a.try_once()
        assert (a.leader, a.term) == ("b", 1)
        second.cancel()
        await b.release()
        assert await a.try_once()
        assert a.term == 2

    with_client(control_plane, use)


def test_events_are_taken_and_counted(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, ["a"])
        (seen,) = [
            record
            async for records in first_of(Watch(client, PODS, Selection(namespace)))
            for record in records
            if isinstance(record, Seen)
        ]
        recorder = EventRecorder(client, "posse.dev/scheduler", "posse-1")
        for _ in range(3):
            recorder.tell(reference_to(seen.object), "Unschedulable", "no room", type="Warning")
            await recorder.flush()
        (event,) = json.loads(await client.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"))["items"]
        assert (event["reason"], event["series"]["count"], recorder.dropped) == ("Unschedulable", 3, 0)

    with_client(control_plane, use)
    assert "no room" in control_plane.kubectl("describe", "pod", "a", "-n", namespace)


async def first_of(watch: Watch) -> AsyncIterator[list[Record]]:
    async with aclosing(watch.records()) as batches:
        async for records in batches:
            yield records
            if any(isinstance(it, Synced) for it in records):
                return


# What follows breaks the server for a while. It is started from the main thread, for it ends with the one that did.


@pytest.mark.parametrize("grace", [10.0, 0.0], ids=["ended", "killed"])
def test_a_watch_outlives_its_server(control_plane: ControlPlane, namespace: str, grace: float) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, ["a", "b"])
        async with listening(client, Selection(namespace)) as view:
            control_plane.stop_apiserver(grace)
            await view.until(lambda: view.told[Interrupted] >= 2)
            control_plane.start_apiserver()
            await client.delete(PODS.path(namespace, "a"), grace=0)
            await make_pods(client, namespace, ["c"])
            await view.until(lambda: set(view.there) == {"b", "c"})

    with_client(control_plane, use)


def test_a_server_that_stands_still_is_given_up_and_come_back_to(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, ["a"])
        async with listening(client, Selection(namespace), Timing(quiet=1.0, backoff=SOON.backoff)) as view:
            with control_plane.apiserver.paused():
                with pytest.raises(LostError, match=r"no answer in 0\.5 seconds|cannot be reached"):
                    await client.request("POST", PODS.path(namespace), manifest("x"), deadline=0.5)
                before = view.told[Interrupted]
                await view.until(lambda: view.told[Interrupted] >= before + 2)
            await make_pods(client, namespace, ["b"])
            await view.until(lambda: {"a", "b"} <= set(view.there))

    with_client(control_plane, use)


class Gate:
    """Somebody's sleep, which lasts until we say so."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.waiting = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waiting.set()
        await self.opened.wait()


def test_what_was_missed_and_is_forgotten_is_told_as_a_difference(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        gate = Gate()
        old = await make_pods(client, namespace, ["stays", "goes", "is-replaced"])
        async with listening(client, Selection(namespace), sleep=gate.sleep) as view:
            control_plane.restart_apiserver()
            await gate.waiting.wait()
            await client.delete(PODS.path(namespace, "goes"), grace=0)
            await client.delete(PODS.path(namespace, "is-replaced"), grace=0)
            new = await make_pods(client, namespace, ["is-replaced", "comes"])
            control_plane.restart_apiserver()  # it remembers nothing from before its start
            gate.opened.set()
            await view.until(lambda: view.told[Synced] == 2)
            assert {name: it.object.metadata.uid for name, it in view.there.items()} == {"stays": old["stays"]} | new
            assert {it.name: it.uid for it in view.vanished} == {it: old[it] for it in ("goes", "is-replaced")}
            assert any("410 Expired" in why for why in view.interruptions)

    with_client(control_plane, use)
