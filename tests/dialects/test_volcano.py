"""Volcano's words: PodGroups, Queues, and annotations on pods."""

import pytest

from posse.cluster.facts import SubgroupPolicy
from posse.cluster.selectors import Requirement, Selector
from posse.dialects import volcano
from posse.dialects.pods import task_of
from posse.errors import InputError
from tests.kube.builders import pod, pod_group, queue, thing


def test_a_pod_group_is_a_gang_known_by_namespace_and_name() -> None:
    gang = volcano.gang_fact(pod_group("g", "ns", minMember=3, queue="q", priorityClassName="high"))

    assert (gang.key, gang.dialect, gang.queue) == ("ns/g", "volcano", "q")
    assert (gang.min_member, gang.priority_class) == (3, "high")
    assert gang.rules.gated_by_queue


def test_a_pod_group_that_names_no_queue_is_in_the_default_one() -> None:
    assert volcano.gang_fact(pod_group()).queue == "default"


def test_the_phase_of_a_pod_group_is_carried_along() -> None:
    seen = thing("scheduling.volcano.sh/v1beta1", "PodGroup", "g", "ns", status={"phase": "Inqueue"})

    assert volcano.gang_fact(seen).phase == "Inqueue"  # type: ignore[arg-type]


def test_roles_are_sorted_by_name() -> None:
    gang = volcano.gang_fact(pod_group(minTaskMember={"worker": 2, "ps": 1}))

    assert gang.min_roles == (("ps", 1), ("worker", 2))


def test_minimum_resources_are_those_that_nodes_have_and_quotas_see_all() -> None:
    needed = {"cpu": "2", "nvidia.com/gpu": 1, "requests.cpu": "2", "count/pods": 2, "pods": 2, "storage": "1Gi"}
    gang = volcano.gang_fact(pod_group(minResources=needed))

    assert gang.min_resources == (("cpu", 2000), ("nvidia.com/gpu", 1000), ("pods", 2))
    assert dict(gang.quota_resources) == {
        "count/pods": 2,
        "cpu": 2000,
        "nvidia.com/gpu": 1000,
        "pods": 2,
        "requests.cpu": 2000,
        "storage": 2**30,
    }


def test_absent_minimum_resources_are_not_empty_ones() -> None:
    assert volcano.gang_fact(pod_group()).min_resources is None
    assert volcano.gang_fact(pod_group(minResources={})).min_resources == ()


@pytest.mark.parametrize(
    "name", ["requests.nvidia.com/gpu", "limits.nvidia.com/gpu", "count/x.example.com", "services", "requests.memory"]
)
def test_names_for_quotas_are_no_resources_of_nodes(name: str) -> None:
    assert not volcano.is_node_resource(name)


@pytest.mark.parametrize(
    "name", ["cpu", "ephemeral-storage", "hugepages-2Mi", "example.com/fpga", "attachable-volumes-x"]
)
def test_native_and_extended_resources_are_resources_of_nodes(name: str) -> None:
    assert volcano.is_node_resource(name)


def test_sub_group_policies_have_volcanos_defaults() -> None:
    policy = {"name": "rack", "labelSelector": {"matchLabels": {"role": "w"}}, "matchLabelKeys": ["part"]}
    gang = volcano.gang_fact(pod_group(subGroupPolicy=[policy, {"name": "rest", "subGroupSize": 2, "minSubGroups": 1}]))

    selector = Selector((Requirement("role", "In", ("w",)),))
    rack = SubgroupPolicy(name="rack", size=1, min_groups=0, selector=selector, match_keys=("part",))
    assert gang.subgroups == (rack, SubgroupPolicy(name="rest", size=2, min_groups=1))


def test_a_bad_selector_of_a_policy_is_named() -> None:
    bad = {"name": "a", "labelSelector": {"matchExpressions": [{"key": "x", "operator": "Gt", "values": ["1"]}]}}

    with pytest.raises(
        InputError, match=r"PodGroup default/g, spec.subGroupPolicy\[0\].labelSelector: unknown operator"
    ):
        volcano.gang_fact(pod_group(subGroupPolicy=[bad]))


def test_a_queue_lends_and_is_open_unless_it_says_otherwise() -> None:
    fact = volcano.queue_fact(queue("q"))

    assert (fact.key, fact.weight, fact.reclaimable, fact.state) == ("q", 1, True, "Open")
    assert (fact.capability, fact.deserved, fact.guarantee, fact.parent) == ((), (), (), "")


def test_a_queue_says_what_it_may_have() -> None:
    fact = volcano.queue_fact(
        queue(
            "q",
            state="Closed",
            metadata={"annotations": {"volcano.sh/hierarchy": "root/q"}},
            weight=3,
            priority=5,
            parent="root",
            reclaimable=False,
            capability={"cpu": "8", "nvidia.com/gpu": 0},
            deserved={"cpu": "4"},
            guarantee={"resource": {"cpu": "1"}},
        )
    )

    assert (fact.weight, fact.priority, fact.parent, fact.reclaimable, fact.state) == (3, 5, "root", False, "Closed")
    assert (fact.capability, fact.deserved) == ((("cpu", 8000), ("nvidia.com/gpu", 0)), (("cpu", 4000),))
    assert (fact.guarantee, fact.annotations) == ((("cpu", 1000),), {"volcano.sh/hierarchy": "root/q"})


def test_the_role_is_the_annotation_else_the_label() -> None:
    both = pod(metadata={"annotations": {"volcano.sh/task-spec": "ps"}, "labels": {"volcano.sh/task-spec": "worker"}})
    label = pod(metadata={"labels": {"volcano.sh/task-spec": "worker"}})

    assert [volcano.with_annotations(task_of(one)).role for one in (both, label, pod())] == ["ps", "worker", ""]


@pytest.mark.parametrize(
    ("text", "priority"),
    [("9", 9), ("-9", -9), ("", 3), ("high", 3), ("1.5", 3), ("99999999999", 3), ("2147483648", 3)],
)
def test_a_priority_annotation_overrides_if_it_is_a_number(text: str, priority: int) -> None:
    task = task_of(pod(priority=3, metadata={"annotations": {"volcano.sh/task-priority": text}}))

    assert volcano.with_annotations(task).priority == priority


@pytest.mark.parametrize(
    ("annotation", "label", "preemptable"),
    [
        (None, None, True),
        ("true", None, True),
        ("T", None, True),
        ("false", None, False),
        ("no", None, False),
        (None, "false", False),
        ("true", "false", True),
        ("", "true", False),
    ],
)
def test_whether_a_pod_may_be_preempted(annotation: str | None, label: str | None, preemptable: bool) -> None:
    key = "volcano.sh/preemptable"
    meta = {
        "annotations": {} if annotation is None else {key: annotation},
        "labels": {} if label is None else {key: label},
    }

    assert volcano.with_annotations(task_of(pod(metadata=meta))).preemptable is preemptable


def test_a_gang_may_not_be_preempted_unless_it_says_so() -> None:
    willing = pod_group(metadata={"annotations": {"volcano.sh/preemptable": "true"}})

    assert (volcano.gang_fact(pod_group()).preemptable, volcano.gang_fact(willing).preemptable) == (False, True)
