"""On a real API server, too: what is bound by hand is seen, and what is wrong about it is told."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from tests.cluster.checker.checking import Watch, checking
from tests.cluster.checker.events import Event, Kind, Object, Type, key, mark, read
from tests.cluster.checker.following import PATHS, Follower
from tests.cluster.checker.objects import Pod
from tests.cluster.checker.recorder import recording
from tests.cluster.checker.report import Rule
from tests.cluster.checker.streaming import WatchingClient
from tests.cluster.client import Client, RefusedError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true

GROUP = "scheduling.volcano.sh"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SOON = 60.0
"""Seconds in which a test surely is over."""


def definition(group: str) -> dict[str, Any]:
    """Define PodGroups, whatever they hold."""
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": anything}
    names = {"kind": "PodGroup", "plural": "podgroups"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": f"podgroups.{group}"}, "spec": spec}


class Hand:
    """Binds by hand, in one namespace."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.namespace = namespace
        self.nodes: list[str] = []
        self._client = client
        self._pods = f"/api/v1/namespaces/{namespace}/pods"

    def node(self, cpu: str = "2") -> str:
        name = f"node-{secrets.token_hex(4)}"
        self.nodes.append(name)
        given = {"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "pods": "10"}}}
        self._client.create("/api/v1/nodes", given)
        return name

    def pods(self, *names: str, gang: str = "", cpu: str = "1") -> None:
        for name in names:
            container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
            annotations = {"scheduling.k8s.io/group-name": gang} if gang else {}
            given = {
                "metadata": {"name": name, "annotations": annotations},
                "spec": {"schedulerName": "posse", "containers": [container]},
            }
            self._client.create(self._pods, given)

    def gang(self, name: str, *pods: str) -> None:
        group = {"apiVersion": f"{GROUP}/v1beta1", "kind": "PodGroup", "metadata": {"name": name}}
        path = f"/apis/{GROUP}/v1beta1/namespaces/{self.namespace}/podgroups"
        self._client.create(path, {**group, "spec": {"minMember": len(pods)}})
        self.pods(*pods, gang=name)

    def bind(self, name: str, node: str) -> None:
        binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self._client.create(f"{self._pods}/{name}/binding", binding)

    def evict(self, name: str) -> None:
        self._client.create(f"{self._pods}/{name}/eviction", {"metadata": {"name": name}})

    def delete(self, name: str) -> None:
        self._client.delete(f"{self._pods}/{name}?gracePeriodSeconds=0")


@pytest.fixture
def hand(control_plane: ControlPlane, namespace: str) -> Iterator[Hand]:
    hand = Hand(control_plane.client, namespace)
    yield hand
    for node in hand.nodes:
        control_plane.client.delete(f"/api/v1/nodes/{node}")


@contextmanager
def serving(client: Client, group: str) -> Iterator[None]:
    """Serve PodGroups for a while."""
    served = f"/apis/{group}/v1beta1/podgroups"
    client.create(DEFINITIONS, definition(group))
    assert comes_true(lambda: client.text("GET", served)[0] == 200)
    yield
    client.delete(f"{DEFINITIONS}/podgroups.{group}")
    assert comes_true(lambda: client.text("GET", served)[0] == 404)


@pytest.fixture
def groups(control_plane: ControlPlane) -> Iterator[None]:
    """Serve PodGroups, if nobody does yet."""
    served = control_plane.client.text("GET", f"/apis/{GROUP}/v1beta1/podgroups")[0] == 200
    with nullcontext() if served else serving(control_plane.client, GROUP):
        yield


def watching(plane: ControlPlane, repair_time: float = SOON) -> Any:
    return checking(plane, schedulers={"posse"}, repair_time=repair_time, explain_time=SOON)


def binds(watch: Watch) -> list[str]:
    return sorted({Pod(it.object).key for it in watch.recorder.events if it.kind == Kind.POD and Pod(it.object).node})


@pytest.mark.usefixtures("groups")
def test_what_is_right_is_found_right(control_plane: ControlPlane, hand: Hand) -> None:
    with watching(control_plane) as watch:
        node = hand.node()
        hand.gang("blue", "blue-1", "blue-2")
        assert not watch.all_started([f"{hand.namespace}/blue"], patience=0)
        hand.bind("blue-1", node)
        hand.bind("blue-2", node)

        assert watch.all_started([f"{hand.namespace}/blue", f"{hand.namespace}/blue-2"])
        report = watch.verify(started=[f"{hand.namespace}/blue"])

    assert "2 binds by posse" in str(report)
    assert list(read(watch.recorder.path)) == list(watch.recorder.events)


@pytest.mark.usefixtures("groups")
def test_a_half_bound_gang_and_a_full_node_are_found(control_plane: ControlPlane, hand: Hand) -> None:
    with watching(control_plane, repair_time=0) as watch:
        node = hand.node(cpu="2")
        hand.gang("blue", "blue-1", "blue-2")
        hand.pods("big", cpu="1500m")
        hand.bind("blue-1", node)
        with pytest.raises(RefusedError, match="already assigned"):
            hand.bind("blue-1", node)
        hand.bind("big", node)

        with pytest.raises(AssertionError) as told:
            watch.verify()

    assert f"a gang stayed half bound: gang {hand.namespace}/blue" in str(told.value)
    assert f"with {hand.namespace}/big its 2 pods take 2.5 of 2 cpu" in str(told.value)
    assert str(watch.recorder.path) in str(told.value)


def test_what_nobody_judged_is_verified_at_the_end(control_plane: ControlPlane, hand: Hand) -> None:
    hand.pods("a")

    with pytest.raises(AssertionError, match="there was no such node"), watching(control_plane):
        hand.bind("a", f"{hand.namespace}-nowhere")


def test_an_eviction_is_told_from_what_the_test_asked_for(control_plane: ControlPlane, hand: Hand) -> None:
    with watching(control_plane) as watch:
        hand.pods("a", "b")
        for name in ("a", "b"):
            hand.bind(name, hand.node())
        watch.asked(f"{hand.namespace}/a")
        hand.delete("a")
        hand.evict("b")
        report = watch.report()

    assert [(it.rule, it.who) for it in report.violations] == [(Rule.EVICTED, f"pod {hand.namespace}/b")]
    assert "EvictionByEvictionAPI" in report.violations[0].story


@pytest.mark.usefixtures("groups")
def test_it_goes_on_when_the_server_was_restarted(control_plane: ControlPlane, hand: Hand) -> None:
    with watching(control_plane) as watch:
        node = hand.node()
        hand.gang("blue", "blue-1", "blue-2")
        hand.bind("blue-1", node)
        control_plane.restart_apiserver(grace=0)
        hand.bind("blue-2", node)

        assert watch.all_started([f"{hand.namespace}/blue"])
        report = watch.verify()

    assert binds(watch) == [f"{hand.namespace}/blue-1", f"{hand.namespace}/blue-2"]
    assert "s in which nobody could act" in str(report)
    assert "gaps" not in str(report)


def test_what_a_watch_misses_is_read_back_from_the_store(control_plane: ControlPlane, hand: Hand) -> None:
    missed: list[Event] = []

    def tell(kind: Kind, what: Type, thing: Object) -> None:
        missed.append(Event(0, kind, what, thing) if kind != Kind.MARK else mark(0, what))

    def summary(events: Sequence[Event]) -> list[tuple[int, str, str, str]]:
        ours = [it for it in events if it.kind == Kind.POD and key(it.object).startswith(hand.namespace)]
        return [(it.revision, it.type, key(it.object), Pod(it.object).node) for it in ours]

    hand.pods("a", "b", "c")
    late = Follower(WatchingClient(control_plane.kubeconfig), Kind.POD, tell)
    late.take_in()
    missed.clear()
    with recording(control_plane.kubeconfig) as recorder:
        begun = len(recorder)
        hand.bind("a", hand.node())
        hand.delete("b")
        hand.delete("c")
        hand.pods("c", "d")
        hand.bind("c", hand.node())
        recorder.catch_up()
        late.catch_up()

    assert summary(missed) == summary(recorder.events[begun:])
    assert [what for _, what, _, _ in summary(missed)].count(Type.DELETED) == 2


def test_a_user_without_rights_is_told_so(control_plane: ControlPlane) -> None:
    with (
        pytest.raises(RefusedError, match="cannot list resource"),
        recording(control_plane.kubeconfig_for("eve")),
    ):
        pass


def test_a_kind_may_be_served_later(
    control_plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = control_plane.client
    monkeypatch.setitem(PATHS, Kind.POD_GROUP, "/apis/later.test/v1beta1/podgroups")
    with recording(control_plane.kubeconfig) as recorder, serving(client, "later.test"):
        group = {"apiVersion": "later.test/v1beta1", "kind": "PodGroup", "metadata": {"name": "blue"}}
        client.create(f"/apis/later.test/v1beta1/namespaces/{namespace}/podgroups", group)

        assert comes_true(lambda: any(it.kind == Kind.POD_GROUP for it in recorder.events))
