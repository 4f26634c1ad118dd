"""Gangs on a real API server: bound whole or not at all, whatever happens in between. The checker watches."""

from tests.cluster.checker.checking import Watch
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true
from tests.live.clusters import (
    add_nodes,
    apply,
    bound,
    comes_to,
    condition,
    crew,
    gang,
    node,
    placed,
    pod,
    said,
    scheduler,
    whole,
)


def test_a_gang_that_fits_is_bound_whole(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane):
        apply(control_plane, whole(cluster, "a", 6))

        assert watch.all_started([f"{cluster}/a"])
    watch.verify()


def test_one_that_does_not_stays_whole_and_its_pods_say_why(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    with scheduler(control_plane):
        apply(control_plane, whole(cluster, "a", 9))

        assert comes_true(lambda: condition(control_plane, cluster, "a-0").get("reason") == "Unschedulable")
        assert comes_true(lambda: control_plane.kubectl("get", "podgroups", "-n", cluster).split()[-4] == "Inqueue")
        assert bound(control_plane, cluster, "a") == 0
    watch.verify()


def test_two_gangs_of_which_only_one_fits_do_not_hold_each_other(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    pairs = zip(crew(cluster, "a", 5), crew(cluster, "b", 5), strict=True)
    with scheduler(control_plane):
        apply(control_plane, [gang(cluster, "a", 5), gang(cluster, "b", 5), *(each for both in pairs for each in both)])

        assert comes_true(
            lambda: sorted((bound(control_plane, cluster, "a"), bound(control_plane, cluster, "b"))) == [0, 5]
        )
    watch.verify()


def test_a_pod_that_names_no_gang_is_one_by_itself(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane):
        apply(control_plane, [pod(cluster, "alone"), pod(cluster, "other", schedulerName="somebody-else")])

        assert comes_true(lambda: bool(placed(control_plane, cluster)["alone"]))
        assert not placed(control_plane, cluster)["other"]
    watch.verify()


def test_a_gang_that_waits_starts_when_a_node_comes(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane):
        apply(control_plane, whole(cluster, "a", 9))
        assert comes_true(lambda: "reason" in condition(control_plane, cluster, "a-0"))
        add_nodes(control_plane, node(f"{cluster}-n3"))

        assert watch.all_started([f"{cluster}/a"])
        watch.verify()
    control_plane.client.delete(f"/api/v1/nodes/{cluster}-n3")


def test_a_scheduler_that_only_tries_binds_nothing(control_plane: ControlPlane, cluster: str) -> None:
    with scheduler(control_plane, "--dry-run") as posse:
        apply(control_plane, whole(cluster, "a", 2))

        assert comes_true(lambda: f"gang would be placed gang={cluster}/a queue=default pods=2" in said(posse))
        assert bound(control_plane, cluster, "a") == 0


def test_the_api_server_may_be_restarted_while_gangs_are_bound(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    gangs = [f"g{number}" for number in range(8)]
    with scheduler(control_plane):
        apply(control_plane, [each for name in gangs for each in whole(cluster, name, 5, cpu=0.1)])
        with watch.standstill():
            control_plane.restart_apiserver(grace=0)

        assert watch.all_started([f"{cluster}/{name}" for name in gangs])
    watch.verify()


def test_a_scheduler_killed_in_the_middle_is_healed_by_the_next(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    gangs = [f"g{number}" for number in range(6)]
    apply(control_plane, [each for name in gangs for each in whole(cluster, name, 5, cpu=0.2)])
    with scheduler(control_plane, lease=cluster) as posse:
        comes_true(lambda: any(placed(control_plane, cluster).values()))
        posse.stop()
    with scheduler(control_plane, lease=cluster):
        assert watch.all_started([f"{cluster}/{name}" for name in gangs])
    watch.verify()


def test_of_two_schedulers_one_leads_and_the_other_takes_over(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    with scheduler(control_plane, lease=cluster) as first, scheduler(control_plane, lease=cluster):
        apply(control_plane, whole(cluster, "a", 3))
        assert comes_to(control_plane, cluster, "a", 3)
        first.stop()
        apply(control_plane, whole(cluster, "b", 3))

        assert comes_to(control_plane, cluster, "b", 3)
    watch.verify()
