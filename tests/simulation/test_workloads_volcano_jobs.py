"""Volcano Jobs become a PodGroup and the pods of their tasks."""

from typing import Any

from posse.kube.meta import KubeObject
from posse.kube.objects import Pod, PodGroup, VolcanoJob
from posse.simulation.admission import Admission
from posse.simulation.workloads import expand, recreate
from tests.kube.builders import NOW, container, pod, priority_class, thing


def task(name: str, replicas: int, cpu: str = "1", priority: str = "", **more: Any) -> dict[str, Any]:
    spec = {"containers": [container({"cpu": cpu})], "priorityClassName": priority}
    return {"name": name, "replicas": replicas, "template": {"spec": spec}, **more}


def job(*tasks: dict[str, Any], metadata: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    status = spec.pop("status", {})
    whole = {"tasks": list(tasks), **spec}
    return thing("batch.volcano.sh/v1alpha1", "Job", "train", "ns", metadata=metadata or {}, spec=whole, status=status)


def made(*things: KubeObject) -> tuple[VolcanoJob, list[PodGroup], list[Pod]]:
    admission = Admission()
    given = admission.admit(things, NOW)
    found = expand(given, lambda children: admission.admit(children, NOW)).made
    owner = next(one for one in given if isinstance(one, VolcanoJob))
    return owner, [one for one in found if isinstance(one, PodGroup)], [one for one in found if isinstance(one, Pod)]


def group_of(*things: KubeObject) -> PodGroup:
    return made(*things)[1][0]


def test_pods_are_named_by_job_task_and_index() -> None:
    _, _, pods = made(job(task("ps", 1), task("worker", 2)))

    assert [str(one) for one in pods] == ["Pod ns/train-ps-0", "Pod ns/train-worker-0", "Pod ns/train-worker-1"]


def test_pods_say_which_group_task_and_index_they_are() -> None:
    owner, _, pods = made(job(task("ps", 1), queue="q"))
    notes, labels = pods[0].metadata.annotations, pods[0].metadata.labels

    assert notes["scheduling.k8s.io/group-name"] == f"train-{owner.metadata.uid}"
    assert (notes["volcano.sh/task-spec"], labels["volcano.sh/task-spec"]) == ("ps", "ps")
    assert (labels["volcano.sh/task-index"], labels["volcano.sh/queue-name"]) == ("0", "q")


def test_the_group_asks_for_what_the_job_asks() -> None:
    group = group_of(
        job(task("ps", 1), task("worker", 4, minAvailable=2), queue="q", priorityClassName="high"),
        priority_class("high", 5),
    )

    assert group.metadata.name.startswith("train-")
    assert (group.spec.min_member, group.spec.min_task_member) == (3, {"ps": 1, "worker": 2})
    assert (group.spec.queue, group.spec.priority_class_name) == ("q", "high")


def test_pods_inherit_scheduler_and_priority_class_from_the_job() -> None:
    _, _, pods = made(job(task("ps", 1), task("own", 1, priority="low"), priorityClassName="high"), *_classes())

    assert [one.spec.scheduler_name for one in pods] == ["volcano", "volcano"]
    assert {one.metadata.name: one.spec.priority for one in pods} == {"train-ps-0": 9, "train-own-0": 1}


def test_pods_repeat_what_the_job_says_about_preemption() -> None:
    meta = {"annotations": {"volcano.sh/preemptable": "true"}, "labels": {"volcano.sh/cooldown-time": "600s"}}
    _, groups, pods = made(job(task("ps", 1), metadata=meta))

    assert pods[0].metadata.annotations["volcano.sh/preemptable"] == "true"
    assert pods[0].metadata.labels["volcano.sh/cooldown-time"] == "600s"
    assert groups[0].metadata.annotations == meta["annotations"]


def test_minimum_resources_count_each_tasks_minimum_first() -> None:
    group = group_of(job(task("ps", 2, "4", minAvailable=1), task("worker", 4, "1", minAvailable=2)))

    assert group.spec.min_resources is not None
    assert (group.spec.min_resources["cpu"], group.spec.min_resources["pods"]) == ("6", "3")


def test_what_is_missing_to_the_jobs_minimum_is_filled_up_from_the_tasks() -> None:
    group = group_of(job(task("ps", 2, "4", minAvailable=1), task("worker", 4, "1", minAvailable=2), minAvailable=5))

    assert group.spec.min_resources is not None
    assert group.spec.min_resources["cpu"] == str(4 + 2 * 1 + 4 + 1)


def test_below_the_sum_of_minimums_the_most_urgent_tasks_count() -> None:
    tasks = (task("worker", 4, "1", "low"), task("ps", 1, "4", "high"))
    group = group_of(job(*tasks, minAvailable=2), *_classes())

    assert group.spec.min_resources is not None
    assert group.spec.min_resources["cpu"] == "5"


def test_minimum_resources_carry_the_names_of_quotas_too() -> None:
    group = group_of(job(task("ps", 1)))

    assert group.spec.min_resources == {"count/pods": "1", "cpu": "1", "pods": "1", "requests.cpu": "1"}


def test_partitions_become_sub_groups_and_pods_know_theirs() -> None:
    policy = {
        "totalPartitions": 2,
        "partitionSize": 2,
        "minPartitions": 1,
        "networkTopology": {"highestTierAllowed": 1},
    }
    _, groups, pods = made(job(task("worker", 4, partitionPolicy=policy)))
    (sub_group,) = groups[0].spec.sub_group_policy

    assert (sub_group.name, sub_group.sub_group_size, sub_group.min_sub_groups) == ("worker", 2, 1)
    assert sub_group.match_label_keys == ("volcano.sh/partition-id",)
    assert [one.metadata.labels["volcano.sh/partition-id"] for one in pods] == ["0", "0", "1", "1"]


def test_a_job_whose_pods_are_there_is_not_expanded() -> None:
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train", "controller": True}
    theirs = pod("train-ps-0", "ns", metadata={"ownerReferences": [owner]})

    assert made(job(task("ps", 1)), theirs)[1:] == ([], [])


def test_a_job_whose_group_is_there_makes_only_its_pods() -> None:
    group = thing("scheduling.volcano.sh/v1beta1", "PodGroup", "train-u", "ns")
    _, groups, pods = made(job(task("ps", 1), metadata={"uid": "u"}, queue="q"), group)

    assert (groups, len(pods)) == ([], 1)


def test_a_job_that_is_over_makes_nothing() -> None:
    assert made(job(task("ps", 1), status={"state": {"phase": "Completed"}}))[1:] == ([], [])


def test_a_lost_pod_comes_back_under_its_name() -> None:
    owner, _, pods = made(job(task("worker", 2)))
    found = recreate(owner, pods[1])

    assert found is not None
    assert (found.metadata.name, found.metadata.uid) == ("train-worker-1", "")
    assert found.metadata.annotations == pods[1].metadata.annotations


def test_a_pod_of_a_place_that_is_no_more_does_not_come_back() -> None:
    owner, _, _ = made(job(task("worker", 1)))
    _, _, pods = made(job(task("worker", 2)))

    assert recreate(owner, pods[1]) is None


def _classes() -> tuple[KubeObject, KubeObject]:
    return priority_class("high", 9), priority_class("low", 1)
