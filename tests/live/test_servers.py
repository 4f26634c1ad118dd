"""Servers that stand still, are slow, come back, and forget what was: nobody loses anything by it."""

import time

from tests.cluster.checker.checking import Watch
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true
from tests.live.clusters import (
    add_nodes,
    apply,
    bound,
    disband,
    node,
    placed,
    says,
    scheduler,
    whole,
)
from tests.live.gatekeeper import Asked, Gatekeeper
from tests.live.slowness import slow_etcd

LONG = 6.0
"""Seconds. Longer than a leader leads without being heard of."""


def test_the_store_stands_still_in_the_middle_of_a_gang_for_longer_than_a_leader_leads(
    control_plane: ControlPlane, cluster: str, watch: Watch, gatekeeper: Gatekeeper
) -> None:
    def story(bind: Asked) -> str:
        if len(gatekeeper.binds) == 5:
            control_plane.etcd.pause()
        return ""

    gatekeeper.asks(story)
    gangs = [f"g{number}" for number in range(4)]
    with scheduler(control_plane):
        apply(control_plane, [each for name in gangs for each in whole(cluster, name, 5, cpu=0.2)])
        assert comes_true(lambda: len(gatekeeper.binds) >= 5)
        with watch.standstill():
            time.sleep(LONG)
            control_plane.etcd.resume()

        assert watch.all_started([f"{cluster}/{name}" for name in gangs])
    watch.verify()


def test_gangs_come_and_go_on_a_store_that_is_slow(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane), slow_etcd(control_plane):
        for number in range(5):
            name = f"g{number}"
            apply(control_plane, whole(cluster, name, 5))
            assert watch.all_started([f"{cluster}/{name}"])
            watch.asked(f"{cluster}/{name}")
            disband(control_plane, cluster, name)
    watch.verify()


def test_what_happened_while_a_watch_was_cut_is_known_afterwards_though_the_server_has_forgotten_it(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    with scheduler(control_plane) as posse:
        apply(control_plane, whole(cluster, "a", 6))
        assert watch.all_started([f"{cluster}/a"])
        apply(control_plane, whole(cluster, "b", 8))
        assert says(control_plane, cluster, "b")
        with watch.standstill(), posse.paused():
            watch.asked(f"{cluster}/a", f"{cluster}/b")
            disband(control_plane, cluster, "a")
            disband(control_plane, cluster, "b")
            control_plane.client.delete(f"/api/v1/nodes/{cluster}-n1")
            add_nodes(control_plane, node(f"{cluster}-n3"))
            apply(control_plane, whole(cluster, "c", 7))
            control_plane.restart_apiserver(grace=0)

        assert watch.all_started([f"{cluster}/c"])
        assert set(placed(control_plane, cluster).values()) == {f"{cluster}-n2", f"{cluster}-n3"}
    watch.verify()


def test_a_server_that_is_restarted_again_and_again_while_gangs_arrive(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    gangs = [f"g{number}" for number in range(2)]
    with scheduler(control_plane):
        for name in gangs:
            apply(control_plane, whole(cluster, name, 10, cpu=0.2))
            comes_true(lambda name=name: bound(control_plane, cluster, name) > 0)
            with watch.standstill():
                control_plane.restart_apiserver(grace=0)

        assert watch.all_started([f"{cluster}/{name}" for name in gangs])
    watch.verify()
