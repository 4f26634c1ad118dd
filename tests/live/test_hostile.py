"""Users who may create what they like: they get what they ask for or nothing, and others are served meanwhile."""

import secrets
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from tests.cluster.checker.checking import Watch
from tests.cluster.client import RefusedError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.cluster.waiting import comes_true
from tests.live.clusters import Manifest, apply, bound, crew, delete, gang, placed, pod, said, says, scheduler, whole

Kind = Callable[[str, str, int], Manifest]
"""A pod of a namespace and a name, and of some size."""

SENSELESS = (400, 413, 422)
"""Codes with which an API server refuses what makes no sense, or is too large."""


def make(plane: ControlPlane, thing: Manifest) -> bool:
    """Create a pod or a PodGroup, if the API server lets us."""
    group = "/api/v1" if thing["kind"] == "Pod" else f"/apis/{thing['apiVersion']}"
    where = f"{group}/namespaces/{thing['metadata']['namespace']}/{thing['kind'].lower()}s"
    try:
        plane.client.create(where, thing)
    except RefusedError as refusal:
        if refusal.code not in SENSELESS:
            raise
        return False
    return True


def is_served(plane: ControlPlane, watch: Watch, posse: Process, namespace: str) -> bool:
    """Whether others are served as ever."""
    apply(plane, whole(namespace, "honest", 4, cpu=0.1))
    return watch.all_started([f"{namespace}/honest"]) and posse.running


ABSURD = ("1e30", "9223372036854775807", "9223372036854775808", "1e-30", "0.0000000000001", "16Ei", "1n", "9e18")
RESOURCES = ("cpu", "memory", "pods", "example.com/gpu", "ephemeral-storage")


def test_absurd_quantities(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    watch.asked(cluster)
    with scheduler(control_plane) as posse:
        for number, (resource, quantity) in enumerate(product(RESOURCES, ABSURD)):
            given = pod(cluster, f"absurd-{number}")
            requests = {resource: quantity}
            given["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": requests}
            make(control_plane, given)
            group = gang(cluster, f"group-{number}", 1)
            group["spec"]["minResources"] = {resource: quantity}
            if make(control_plane, group):
                make(control_plane, pod(cluster, f"group-{number}-0", f"group-{number}", cpu=0.01))

        assert is_served(control_plane, watch, posse, cluster)
        assert says(control_plane, cluster, "absurd")
    watch.verify()


def avoiding(namespace: str, name: str, terms: int) -> Manifest:
    """A pod that wants to be near to nobody, in thousands of terms."""
    term = [
        {"topologyKey": f"test/zone-{number}", "labelSelector": {"matchLabels": {f"app-{number}": "x"}}}
        for number in range(terms)
    ]
    return pod(
        namespace,
        name,
        cpu=0.01,
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}},
    )


def choosy(namespace: str, name: str, terms: int) -> Manifest:
    """A pod that says of thousands of kinds of nodes that they would do."""
    term = [
        {"matchExpressions": [{"key": "kind", "operator": "NotIn", "values": [f"v{number}-{at}" for at in range(10)]}]}
        for number in range(terms)
    ]
    required = {"nodeSelectorTerms": term}
    return pod(
        namespace,
        name,
        cpu=0.01,
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
    )


def preferring(namespace: str, name: str, terms: int) -> Manifest:
    """A pod that likes thousands of things."""
    liked = [
        {
            "weight": 1 + number % 100,
            "podAffinityTerm": {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"n": f"{number}"}},
            },
        }
        for number in range(terms)
    ]
    return pod(
        namespace, name, cpu=0.01, affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": liked}}
    )


def tolerant(namespace: str, name: str, terms: int) -> Manifest:
    return pod(
        namespace,
        name,
        cpu=0.01,
        tolerations=[{"key": f"key-{number}", "operator": "Exists"} for number in range(terms)],
    )


def wordy(namespace: str, name: str, size: int) -> Manifest:
    """A pod with much to say."""
    given = pod(namespace, name, cpu=0.01)
    given["metadata"]["annotations"] = {"words": "x" * size}
    return given


@pytest.mark.parametrize("kind", [avoiding, choosy, preferring, tolerant])
def test_thousands_of_terms(control_plane: ControlPlane, cluster: str, watch: Watch, kind: Kind) -> None:
    watch.asked(cluster)
    with scheduler(control_plane) as posse:
        made = [make(control_plane, kind(cluster, f"terms-{at}", terms)) for at, terms in enumerate([1000, 3000, 5000])]
        assert any(made)

        assert is_served(control_plane, watch, posse, cluster)
        assert comes_true(lambda: all(placed(control_plane, cluster).values()))
    watch.verify()


def test_megabytes_of_annotations(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane) as posse:
        assert not make(control_plane, wordy(cluster, "too-much", 1 << 20))
        assert all(make(control_plane, wordy(cluster, f"much-{number}", 250_000)) for number in range(20))

        assert is_served(control_plane, watch, posse, cluster)
        assert comes_true(lambda: all(placed(control_plane, cluster).values()))
    watch.verify()


FORGED = "\n2026-01-01T00:00:00Z INFO forged\r\n\x1b[31mforged\u2028forged"


def test_nobody_writes_lines_into_the_log(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    named = pod(cluster, "names", of=f"a{FORGED}", cpu=0.01)
    role = pod(cluster, "role", cpu=0.01)
    role["metadata"]["annotations"] = {"volcano.sh/task-spec": FORGED, "volcano.sh/task-priority": FORGED}
    unreadable, roles = gang(cluster, "unreadable", 1), gang(cluster, "roles", 3)
    unreadable["spec"]["minResources"] = {f"cpu{FORGED}": "1e40"}
    unreadable["metadata"]["annotations"] = {"volcano.sh/preemptable": FORGED}
    roles["spec"]["minTaskMember"] = {FORGED: 2}
    with scheduler(control_plane) as posse:
        for each in (named, role, unreadable, roles, *crew(cluster, "unreadable", 1), *crew(cluster, "roles", 4)):
            make(control_plane, each)

        assert is_served(control_plane, watch, posse, cluster)
        assert says(control_plane, cluster, "roles")
        assert not [line for line in said(posse).splitlines() if line.startswith(("2026-01-01", "forged", "\x1b"))]
        assert "\x1b" not in said(posse)
        watch.asked(f"{cluster}/names", f"{cluster}/unreadable-0")
        delete(control_plane, cluster, "names", "unreadable-0")
    watch.verify()


def test_a_minimum_that_nobody_can_have(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane) as posse:
        apply(control_plane, [gang(cluster, "a", 2147483647), *crew(cluster, "a", 3, cpu=0.1)])
        too_large = gang(cluster, "b", 2147483648)
        assert not make(control_plane, too_large)

        assert is_served(control_plane, watch, posse, cluster)
        assert says(control_plane, cluster, "a")
        assert bound(control_plane, cluster, "a") == 0
    watch.verify()


@pytest.fixture
def neighbour(control_plane: ControlPlane) -> Iterator[str]:
    """Give a namespace of somebody else's."""
    name = f"other-{secrets.token_hex(4)}"
    control_plane.client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    yield name
    control_plane.client.delete(f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")


def test_nobody_joins_a_gang_of_another_namespace(
    control_plane: ControlPlane, cluster: str, watch: Watch, neighbour: str
) -> None:
    with scheduler(control_plane) as posse:
        apply(control_plane, [gang(cluster, "a", 3), *crew(cluster, "a", 2)])
        for number, name in enumerate(["a", f"{cluster}/a", f"../{cluster}/a", f"/{cluster}/a"]):
            make(control_plane, pod(neighbour, f"intruder-{number}", of=name))

        assert is_served(control_plane, watch, posse, cluster)
        assert says(control_plane, cluster, "a")
        assert bound(control_plane, cluster, "a") == 0
        assert not any(placed(control_plane, neighbour).values())
        watch.asked(neighbour)
    watch.verify()
