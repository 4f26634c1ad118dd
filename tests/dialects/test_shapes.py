"""A shape that is remembered is the one that would have been found."""

from typing import Any

import pytest

from posse.dialects.pods import shape_of
from posse.dialects.shapes import SOME, Shapes
from posse.kube.objects import Pod
from tests.kube.builders import container, pod

HOST = "kubernetes.io/hostname"
REVISION = {"topologyKey": HOST, "labelSelector": {}, "matchLabelKeys": ["rev"]}


def sibling(name: str, rev: str = "1", owner: str = "job", status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    owners = [{"kind": "Job", "name": owner, "uid": f"uid-of-{owner}", "controller": True}]
    return pod(name, metadata={"labels": {"rev": rev}, "ownerReferences": owners}, status=status, **spec)


def test_siblings_share_one_shape() -> None:
    shapes = Shapes()
    one = shapes.of(sibling("one", nodeName="a", volumes=[{"name": "token-1"}]))

    assert shapes.of(sibling("other", nodeName="b", volumes=[{"name": "token-2"}], status={"phase": "Running"})) is one


def test_pods_of_others_that_ask_for_the_same_share_it_too() -> None:
    shapes = Shapes()
    one = shapes.of(sibling("one"))

    assert shapes.of(sibling("other", owner="another")) is one
    assert shapes.of(pod("alone")) is one


UNLIKE: dict[str, list[dict[str, Any]]] = {
    "requests": [{"containers": [container({"cpu": cpu})]} for cpu in ("1", "2")],
    "a resize": [
        {"status": {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}}
        for cpu in ("4", "5")
    ],
    "one that is refused": [
        {"status": {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "0"}}}], "resize": resize}}
        for resize in ("", "Infeasible")
    ],
    "spread by a label of their own": [
        {"rev": rev, "topologySpreadConstraints": [{**REVISION, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}
        for rev in ("1", "2")
    ],
    "others that are like them": [
        {"rev": rev, "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [REVISION]}}}
        for rev in ("1", "2")
    ],
    "claims of their own": [{"volumes": [{"name": "data", "ephemeral": {}}]}] * 2,
    "a claim each": [{"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": name}}]} for name in "ab"],
    "devices": [{"resourceClaims": [{"name": "d", "resourceClaimName": name}]} for name in "ab"],
}


@pytest.mark.parametrize("wishes", UNLIKE.values(), ids=UNLIKE)
def test_siblings_that_ask_for_other_things_do_not(wishes: list[dict[str, Any]]) -> None:
    shapes, pods = Shapes(), [sibling(f"p-{number}", **wish) for number, wish in enumerate(wishes)]
    first, second = [shapes.of(each) for each in pods]

    assert (first, second) == (shape_of(pods[0]), shape_of(pods[1]))
    assert first != second


def test_many_controllers_are_not_remembered_for_ever() -> None:
    shapes = Shapes()
    for number in range(SOME + 9):
        one = sibling("p", owner=f"job-{number}", containers=[container({"cpu": str(number)})])
        assert shapes.of(one) == shape_of(one)

    assert (len(shapes._known), len(shapes._shapes)) == (9, 9)
