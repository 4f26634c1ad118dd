"""Who leads, and who led: a scheduler that stood still while another took over binds nothing more.

How it is with clocks that differ is not tried here: all processes have this machine's clock. Leading is reckoned on
each one's own steady clock, which the tests of leases set as they like.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.checker.checking import Watch
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.live.clusters import GRACE, apply, comes_to, hire, is_ready, scheduler, start, whole
from tests.live.gatekeeper import Asked, Gatekeeper

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@contextmanager
def deputy(plane: ControlPlane, lease: str) -> Iterator[Process]:
    """A second scheduler of the same lease, with the same rights under another name."""
    with start(plane, second_account(plane, lease), "--lease", f"kube-system/{lease}") as process:
        yield process.until(lambda: is_ready(process))
        process.stop(GRACE)


def second_account(plane: ControlPlane, namespace: str) -> Path:
    hire(plane)
    who = [{"kind": "ServiceAccount", "name": "deputy", "namespace": namespace}]
    for kind, where, role in (
        ("ClusterRole", "clusterrolebindings", "posse-scheduler"),
        ("Role", "namespaces/kube-system/rolebindings", "posse-lease"),
    ):
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
        plane.client.create(f"{RBAC}/{where}", {"metadata": {"name": namespace}, "roleRef": ref, "subjects": who})
    return plane.service_account(namespace, "deputy")


def asked_by(gatekeeper: Gatekeeper, name: str) -> list[str]:
    """The pods that an account has asked to bind."""
    return [bind.pod for bind in gatekeeper.binds if bind.user.endswith(f":{name}")]


def test_a_leader_that_stood_still_while_another_took_over_binds_nothing_more(
    control_plane: ControlPlane, cluster: str, watch: Watch, gatekeeper: Gatekeeper
) -> None:
    with scheduler(control_plane, lease=cluster) as first:

        def story(bind: Asked) -> str:
            if len(gatekeeper.binds) == 5:
                first.pause()
            return ""

        gatekeeper.asks(story)
        with deputy(control_plane, cluster):
            apply(control_plane, whole(cluster, "a", 200, cpu=0.02))
            assert watch.all_started([f"{cluster}/a"])
            stale = asked_by(gatekeeper, "posse")
            assert 1 <= len(stale) < 200
            apply(control_plane, whole(cluster, "b", 5, cpu=0.02))
            assert comes_to(control_plane, cluster, "b", 5)
            first.resume()
            apply(control_plane, whole(cluster, "c", 5, cpu=0.02))
            assert comes_to(control_plane, cluster, "c", 5)
        apply(control_plane, whole(cluster, "d", 5, cpu=0.02))
        assert comes_to(control_plane, cluster, "d", 5)

        assert sorted(asked_by(gatekeeper, "posse")[len(stale) :]) == [f"d-{number}" for number in range(5)]
    watch.verify()
