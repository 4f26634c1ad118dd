"""What an API server adds to objects as they arrive."""

from typing import Any

import pytest

from posse.errors import InputError
from posse.kube.meta import KubeObject
from posse.kube.objects import Node, Pod, PodGroup, Queue, VolcanoJob
from posse.kube.requests import pod_requests
from posse.simulation.admission import Admission, with_built_ins
from tests.kube.builders import (
    NOW,
    container,
    limit_range,
    namespace,
    node,
    pod,
    pod_group,
    priority_class,
    queue,
    runtime_class,
    thing,
)

MI = 2**20


def admitted(*things: KubeObject) -> Any:
    """The first of some objects, after all of them were admitted together."""
    wanted = things[0]
    found = Admission().admit(things, NOW)
    return next(one for one in found if (type(one), one.metadata.name) == (type(wanted), wanted.metadata.name))


def test_the_system_classes_and_volcanos_queues_always_exist() -> None:
    names = {(one.kind_name, one.metadata.name) for one in with_built_ins([])}

    assert names == {
        ("PriorityClass", "system-cluster-critical"),
        ("PriorityClass", "system-node-critical"),
        ("Queue", "root"),
        ("Queue", "default"),
    }


def test_the_root_queue_gives_nothing_back_and_the_default_one_weighs_one() -> None:
    queues = {one.metadata.name: one.spec for one in with_built_ins([]) if isinstance(one, Queue)}

    assert (queues["root"].reclaimable, queues["default"].weight) == (False, 1)


def test_a_queue_of_the_input_takes_the_place_of_a_built_in_one() -> None:
    own = queue("default", weight=7)

    assert [one for one in with_built_ins([own]) if one.metadata.name == "default"] == [own]


def test_the_priority_comes_from_the_class() -> None:
    calm = priority_class("calm", 5, preemptionPolicy="Never")
    spec = admitted(pod(priorityClassName="calm"), calm).spec

    assert (spec.priority, spec.preemption_policy) == (5, "Never")


def test_a_pod_without_class_gets_the_global_default() -> None:
    spec = admitted(pod(), priority_class("usual", 3, globalDefault=True), priority_class("other", 9)).spec

    assert (spec.priority, spec.priority_class_name) == (3, "usual")


def test_of_two_global_defaults_the_lower_counts() -> None:
    two = (priority_class("a", 9, globalDefault=True), priority_class("b", 3, globalDefault=True))

    assert admitted(pod(), *two).spec.priority == 3


def test_without_any_default_a_pod_has_priority_0() -> None:
    assert admitted(pod()).spec.priority == 0


def test_a_priority_that_is_given_stays() -> None:
    assert admitted(pod(priority=1, priorityClassName="calm"), priority_class("calm", 5)).spec.priority == 1


def test_a_class_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError) as caught:
        admitted(pod(priorityClassName="hihg"), priority_class("high", 5))

    assert str(caught.value) == (
        "Pod default/p, spec.priorityClassName: there is no PriorityClass 'hihg' (accepted: high)"
    )


def test_a_class_that_came_earlier_is_remembered_and_one_that_left_is_not() -> None:
    admission = Admission()
    admission.admit([priority_class("high", 5)], NOW)
    (early,) = admission.admit([pod("a", priorityClassName="high")], NOW)
    admission.forget(("scheduling.k8s.io", "PriorityClass", "", "high"))

    assert isinstance(early, Pod)
    assert early.spec.priority == 5
    with pytest.raises(InputError):
        admission.admit([pod("b", priorityClassName="high")], NOW)


def test_what_comes_out_of_a_cluster_passes_through_unchanged() -> None:
    old = pod(metadata={"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"})

    assert admitted(old, priority_class("usual", 3, globalDefault=True)) == old


def test_limits_stand_in_for_requests() -> None:
    limited = pod(containers=[{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Mi"}}}])

    assert admitted(limited).spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Mi"}


def test_a_limit_range_gives_what_a_container_does_not_say() -> None:
    limits = limit_range("l", "default", {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}})
    bare, asking = container(), container({"cpu": "3"})
    got = [one.resources for one in admitted(pod(containers=[bare, asking]), limits).spec.containers]

    assert [(one.requests, one.limits) for one in got] == [({"cpu": "1"}, {"cpu": "2"}), ({"cpu": "3"}, {"cpu": "2"})]


def test_a_limit_range_without_default_request_gives_its_default_and_without_that_its_bounds() -> None:
    limits = limit_range(
        "l", "default", {"type": "Container", "default": {"cpu": "2"}, "max": {"memory": "9Mi"}, "min": {"gpu/x": "1"}}
    )
    got = admitted(pod(containers=[container()]), limits)

    assert pod_requests(got) == {"cpu": 2000, "memory": 9 * MI, "gpu/x": 1000}


def test_a_limit_range_is_for_the_containers_of_its_namespace() -> None:
    elsewhere = limit_range("l", "other", {"type": "Container", "default": {"cpu": "2"}})
    for_pods = limit_range("m", "default", {"type": "Pod", "max": {"cpu": "2"}})

    assert pod_requests(admitted(pod(containers=[container()]), elsewhere, for_pods)) == {}


def test_a_runtime_class_adds_its_overhead_and_its_nodes() -> None:
    kata = runtime_class("kata", overhead={"podFixed": {"cpu": "250m"}}, scheduling={"nodeSelector": {"vm": "yes"}})
    spec = admitted(pod(runtimeClassName="kata", nodeSelector={"zone": "a"}), kata).spec

    assert (spec.overhead, spec.node_selector) == ({"cpu": "250m"}, {"zone": "a", "vm": "yes"})


def test_a_pod_that_names_no_scheduler_is_the_default_schedulers() -> None:
    assert admitted(pod()).spec.scheduler_name == "default-scheduler"


def test_a_node_that_does_not_say_takes_as_many_pods_as_a_kubelet() -> None:
    silent, told = admitted(node("a", cpu="4")), admitted(node("b", cpu="4", pods="20"))

    assert isinstance(silent, Node)
    assert (silent.status.allocatable["pods"], told.status.allocatable["pods"]) == ("110", "20")


def test_a_pod_group_that_names_no_queue_is_in_its_namespaces_queue() -> None:
    home = namespace("team", annotations={"scheduling.volcano.sh/queue-name": "q"})
    found = [
        admitted(pod_group("g", "team"), home),
        admitted(pod_group("g", "elsewhere"), home),
        admitted(pod_group("g", "team", queue="own"), home),
    ]

    assert [one.spec.queue for one in found if isinstance(one, PodGroup)] == ["q", "default", "own"]


def test_a_queue_of_weight_0_weighs_1() -> None:
    assert admitted(queue("q", weight=0)).spec.weight == 1


def test_a_volcano_job_gets_what_its_webhook_adds() -> None:
    tasks = [{"replicas": 2}, {"name": "ps", "replicas": 3, "minAvailable": 1}]
    job = admitted(thing("batch.volcano.sh/v1alpha1", "Job", "j", spec={"tasks": tasks}))

    assert isinstance(job, VolcanoJob)
    assert (job.spec.queue, job.spec.scheduler_name, job.spec.min_available) == ("default", "volcano", 3)
    assert [(task.name, task.min_available) for task in job.spec.tasks] == [("default0", 2), ("ps", 1)]


def test_partitions_set_a_tasks_minimum_only_where_they_have_one() -> None:
    policies = [{"partitionSize": 2, "minPartitions": 1}, {"partitionSize": 2}]
    tasks = [{"name": f"t{number}", "replicas": 4, "partitionPolicy": one} for number, one in enumerate(policies)]
    job = admitted(thing("batch.volcano.sh/v1alpha1", "Job", "j", spec={"tasks": tasks}))

    assert [task.min_available for task in job.spec.tasks] == [2, 4]
