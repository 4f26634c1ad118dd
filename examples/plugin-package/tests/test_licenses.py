"""The plugin, tested as its users use it: a small cluster in, what is bound out. Install the package first."""

from typing import Any

from posse.simulation.batch import answer_line

CONF = """
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: licenses, arguments: {licenses.cad: 4}}]
"""
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "32", "pods": "110"}},
}


def gang(name: str, minimum: int, pods: int, license_name: str = "cad") -> list[dict[str, Any]]:
    """A PodGroup, and its pods."""
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": minimum},
    }
    notes = {"scheduling.k8s.io/group-name": name, "example.com/license": license_name}
    container = {"name": "draw", "image": "cad", "resources": {"requests": {"cpu": "1"}}}
    members = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-{number}", "annotations": notes},
            "spec": {"containers": [container]},
        }
        for number in range(pods)
    ]
    return [group, *members]


def bound(*objects: dict[str, Any]) -> set[str]:
    """The pods that have a node after one cycle."""
    answer = answer_line({"id": "test", "conf": CONF, "objects": [NODE, *objects], "cycles": 1})
    return {pod.removeprefix("default/") for pod in answer["binds"]}


def test_pods_start_while_there_are_licenses() -> None:
    assert bound(*gang("a", minimum=1, pods=6)) == {"a-0", "a-1", "a-2", "a-3"}


def test_a_gang_that_does_not_get_all_its_licenses_leaves_them_to_the_next() -> None:
    assert bound(*gang("a", minimum=5, pods=5), *gang("b", minimum=4, pods=4)) == {"b-0", "b-1", "b-2", "b-3"}


def test_a_license_that_nobody_owns_starts_nothing() -> None:
    assert bound(*gang("a", minimum=1, pods=1, license_name="cam")) == set()


def test_pods_without_a_license_are_none_of_its_business() -> None:
    assert len(bound(*gang("a", minimum=6, pods=6, license_name=""))) == 6
