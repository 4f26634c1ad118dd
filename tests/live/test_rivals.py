"""Others who put pods on our nodes: what they take is theirs, and nobody is given what is gone."""

from random import Random
from threading import Event, Thread

from tests.cluster.checker.checking import Watch, checking
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true
from tests.live.clusters import Manifest, apply, comes_to, delete, disband, placed, pod, says, scheduler, whole
from tests.live.gatekeeper import Asked, Gatekeeper


def rival(plane: ControlPlane, namespace: str, name: str, node: str, cpu: float) -> None:
    """Put a pod of another scheduler on a node."""
    given = pod(namespace, name, cpu=cpu, schedulerName="rival", nodeName=node)
    plane.client.create(f"/api/v1/namespaces/{namespace}/pods", given)


def fail_as_a_kubelet_does(plane: ControlPlane, namespace: str, name: str) -> None:
    """Send away a pod that has no room on its node."""
    status = {"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu"}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    seen = plane.client.get(path)
    plane.client.request("PUT", f"{path}/status", {**seen, "status": {**seen["status"], **status}})


def again(namespace: str, members: list[Manifest], *names: str) -> list[Manifest]:
    """The members of these names, to be made anew."""
    return [each for each in members if each["metadata"]["name"] in names]


def test_who_comes_to_our_node_while_we_bind_keeps_it_and_our_pods_go_elsewhere(
    control_plane: ControlPlane, cluster: str, watch: Watch, gatekeeper: Gatekeeper
) -> None:
    taken: list[str] = []

    def story(bind: Asked) -> str:
        if not taken:
            taken.append(bind.node)
            rival(control_plane, cluster, "rival", bind.node, cpu=4)
        return ""

    gatekeeper.asks(story)
    members = whole(cluster, "a", 4)
    with scheduler(control_plane):
        apply(control_plane, members)
        assert watch.all_started([f"{cluster}/a"])
        too_many = [name for name, on in placed(control_plane, cluster).items() if on in taken and name != "rival"]
        assert too_many
        for name in too_many:
            fail_as_a_kubelet_does(control_plane, cluster, name)
        watch.asked(*(f"{cluster}/{name}" for name in too_many))
        delete(control_plane, cluster, *too_many)
        apply(control_plane, again(cluster, members, *too_many))

        assert comes_to(control_plane, cluster, "a", 4)
        assert {on for name, on in placed(control_plane, cluster).items() if name != "rival"}.isdisjoint(taken)
    watch.verify()


def test_a_gang_waits_for_room_that_others_have_and_gets_it_when_they_go(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    with scheduler(control_plane):
        rival(control_plane, cluster, "rival", f"{cluster}-n2", cpu=2)
        apply(control_plane, whole(cluster, "a", 7))
        assert says(control_plane, cluster, "a")
        watch.asked(f"{cluster}/rival")
        delete(control_plane, cluster, "rival")

        assert watch.all_started([f"{cluster}/a"])
    watch.verify()


def test_gangs_and_a_rival_who_comes_and_goes_share_nodes(control_plane: ControlPlane, cluster: str) -> None:
    over = Event()
    lots = Random(1)

    def comes_and_goes() -> None:
        for number in range(1000):
            name = f"rival-{number}"
            rival(control_plane, cluster, name, f"{cluster}-n{lots.randint(1, 2)}", lots.choice([0.5, 1, 2]))
            if over.wait(lots.uniform(0, 0.2)):
                return
            delete(control_plane, cluster, name)

    with checking(control_plane, schedulers={"posse"}, repair_time=15, slack=3) as watch:
        watch.asked(cluster)
        other = Thread(target=comes_and_goes)
        with scheduler(control_plane):
            other.start()
            try:
                for number in range(10):
                    name = f"g{number}"
                    apply(control_plane, whole(cluster, name, lots.randint(2, 5)))
                    assert watch.all_started([f"{cluster}/{name}"])
                    disband(control_plane, cluster, name)
            finally:
                over.set()
                other.join()
            assert comes_true(lambda: not [it for it in placed(control_plane, cluster) if it.startswith("g")])
        watch.verify()
