"""Nodes and pods that are lost: before they are bound, while they are, and afterwards."""

from pathlib import Path

from tests.cluster.checker.checking import Watch
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true
from tests.live.clusters import (
    Manifest,
    add_nodes,
    apply,
    bound,
    comes_to,
    delete,
    node,
    placed,
    pod,
    scheduler,
    whole,
)
from tests.live.gatekeeper import Asked, Gatekeeper
from tests.live.slowness import slow_etcd


def lose_node(plane: ControlPlane, name: str) -> None:
    plane.client.delete(f"/api/v1/nodes/{name}")


def renew(plane: ControlPlane, watch: Watch, namespace: str, members: list[Manifest], *names: str) -> None:
    """Delete pods, and make others under their names, as their controllers would."""
    if not names:
        return
    watch.asked(*(f"{namespace}/{name}" for name in names))
    delete(plane, namespace, *names)
    apply(plane, [each for each in members if each["metadata"]["name"] in names])


def on(plane: ControlPlane, namespace: str, node: str) -> list[str]:
    """The pods of a node."""
    return [name for name, where in placed(plane, namespace).items() if where == node]


def test_a_node_that_vanishes_between_decision_and_bind_costs_only_its_own_pods(
    control_plane: ControlPlane, cluster: str, watch: Watch, gatekeeper: Gatekeeper
) -> None:
    lost: list[str] = []

    def story(bind: Asked) -> str:
        if not lost:
            lost.append(bind.node)
            lose_node(control_plane, bind.node)
        return ""

    gatekeeper.asks(story)
    members = whole(cluster, "a", 6)
    with scheduler(control_plane):
        apply(control_plane, members)
        assert comes_true(lambda: bool(lost))
        assert comes_true(lambda: bound(control_plane, cluster, "a") >= len(on(control_plane, cluster, lost[0])) > 0)
        add_nodes(control_plane, node(f"{cluster}-n3"))

        def stand_on_what_is_there() -> bool:
            stranded = on(control_plane, cluster, lost[0])
            renew(control_plane, watch, cluster, members, *stranded)
            return not stranded and bound(control_plane, cluster, "a") == 6

        assert comes_true(stand_on_what_is_there)
    watch.verify()


def test_members_that_die_with_their_node_are_placed_again(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    members = whole(cluster, "a", 6)
    with scheduler(control_plane):
        apply(control_plane, members)
        assert watch.all_started([f"{cluster}/a"])
        lose_node(control_plane, f"{cluster}-n1")
        renew(control_plane, watch, cluster, members, *on(control_plane, cluster, f"{cluster}-n1"))
        add_nodes(control_plane, node(f"{cluster}-n3"))

        assert comes_to(control_plane, cluster, "a", 6)
        assert set(placed(control_plane, cluster).values()) == {f"{cluster}-n2", f"{cluster}-n3"}
    watch.verify()


def test_a_pod_that_is_deleted_in_the_middle_of_its_gang_is_awaited_though_the_store_is_slow(
    control_plane: ControlPlane, cluster: str, watch: Watch, gatekeeper: Gatekeeper
) -> None:
    deleted: list[str] = []

    def story(bind: Asked) -> str:
        if len(gatekeeper.binds) == 8:
            bound_by_now = {each.pod for each in gatekeeper.binds}
            deleted.append(next(f"a-{number}" for number in range(20) if f"a-{number}" not in bound_by_now))
            watch.asked(f"{cluster}/{deleted[0]}")
            delete(control_plane, cluster, deleted[0])
        return ""

    gatekeeper.asks(story)
    members = whole(cluster, "a", 20, cpu=0.2)
    with scheduler(control_plane):
        with slow_etcd(control_plane):
            apply(control_plane, members)
            assert comes_true(lambda: bool(deleted))
            apply(control_plane, [each for each in members if each["metadata"]["name"] in deleted])

        assert watch.all_started([f"{cluster}/a"])
    watch.verify()


def test_a_gang_that_loses_a_pod_for_good_while_it_is_bound_lets_go(
    control_plane: ControlPlane, cluster: str, watch: Watch, gatekeeper: Gatekeeper, hasty: Path
) -> None:
    def story(bind: Asked) -> str:
        if len(gatekeeper.binds) == 2:
            bound_by_now = {each.pod for each in gatekeeper.binds}
            gone = next(f"a-{number}" for number in range(6) if f"a-{number}" not in bound_by_now)
            watch.asked(f"{cluster}/{gone}")
            delete(control_plane, cluster, gone)
        return ""

    gatekeeper.asks(story)
    with scheduler(control_plane, "--config", hasty):
        apply(control_plane, whole(cluster, "a", 6))
        assert comes_true(lambda: len(placed(control_plane, cluster)) < 6)

        assert comes_to(control_plane, cluster, "a", 0)
    report = watch.verify()
    assert {it.how for it in report.evictions} == {"EvictionByEvictionAPI"}


def test_a_member_of_a_running_gang_that_is_made_anew_gets_its_node_again(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    members = whole(cluster, "a", 8)
    with scheduler(control_plane):
        apply(control_plane, members)
        assert watch.all_started([f"{cluster}/a"])
        before = placed(control_plane, cluster)
        renew(control_plane, watch, cluster, members, "a-3")

        assert comes_to(control_plane, cluster, "a", 8)
        assert placed(control_plane, cluster) == before
        apply(control_plane, [pod(cluster, "late")])
    watch.verify()
