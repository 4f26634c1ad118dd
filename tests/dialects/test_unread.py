"""Gangs that are named in a way that is not read yet."""

import pytest

from posse.dialects.translator import Translator
from posse.kube.objects import Pod
from tests.kube.builders import pod

KOORDINATOR = "gang.scheduling.koordinator.sh/name"
GROUP = "scheduling.k8s.io/group-name"


def says(*, of: Translator | None = None, status: dict[str, str] | None = None, **what: object) -> str:
    """What is missed of a pod: its annotations, its labels or its spec."""
    spec = what.pop("spec", {})
    made: Pod = pod("p", metadata=what, status=status or {}, **spec)  # type: ignore[arg-type]
    return (of or Translator()).misses(made)


@pytest.mark.parametrize(
    ("what", "way"),
    [
        ({"spec": {"schedulingGroup": {"podGroupName": "g"}}}, "spec.schedulingGroup"),
        ({"spec": {"workloadRef": {"name": "w"}}}, "spec.workloadRef"),
        ({"annotations": {"pod-group-name": "g"}}, "annotation pod-group-name"),
        ({"annotations": {KOORDINATOR: "g"}}, "annotations gang.scheduling.koordinator.sh/*"),
        ({"annotations": {"posse.dev/min-member": "3"}}, "annotation posse.dev/min-member"),
        ({"labels": {"scheduling.x-k8s.io/pod-group": "g"}}, "label scheduling.x-k8s.io/pod-group"),
        ({"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}}, "label pod-group.scheduling.sigs.k8s.io"),
        ({"labels": {"pod-group.scheduling.sigs.k8s.io/name": "g"}}, "label pod-group.scheduling.sigs.k8s.io"),
        ({"spec": {"schedulerName": "kai-scheduler"}}, "schedulerName kai-scheduler"),
    ],
)
def test_each_way_that_is_not_read_is_known(what: dict[str, object], way: str) -> None:
    assert says(**what).startswith(way)


def test_a_gang_that_is_read_is_not_missed() -> None:
    assert says(annotations={GROUP: "g", KOORDINATOR: "g"}) == ""
    assert says(labels={"app": "web"}) == ""


def test_only_a_pod_of_ours_that_waits_is_missed() -> None:
    notes = {KOORDINATOR: "g"}

    assert says(annotations=notes, of=Translator(["volcano"])) == ""
    assert says(annotations=notes, spec={"nodeName": "n"}) == ""
    assert says(annotations=notes, status={"phase": "Succeeded"}) == ""
