"""Volcano Jobs: the PodGroup and the pods that their controller makes.

The controller waits with the pods until the PodGroup is admitted; here they are all there from the start.
"""

from collections.abc import Iterable, Mapping

from msgspec import structs

from posse.kube.meta import LabelSelector, Metadata
from posse.kube.objects import PodGroup, PodGroupSpec, SubGroupPolicy
from posse.kube.pods import Pod
from posse.kube.quantity import format_amounts, in_order
from posse.kube.requests import Totals, sum_of
from posse.kube.workloads import PodTemplate, VolcanoJob, VolcanoTask
from posse.simulation.pod_names import numbered
from posse.simulation.standing import quota_usage
from posse.simulation.templates import controller_reference, pod_from

DEFAULT_QUEUE = "default"
SCHEDULER = "volcano"
GROUP_NAME = "scheduling.k8s.io/group-name"
TASK = "volcano.sh/task-spec"
INDEX = "volcano.sh/task-index"
PARTITION = "volcano.sh/partition-id"
NUMA_POLICY = "volcano.sh/numa-topology-policy"

_LABELS_OF_JOB = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")
_NOTES_OF_JOB = (
    *_LABELS_OF_JOB,
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)
"""What a job says that its pods repeat."""

_OVER = ("Aborting", "Aborted", "Completing", "Completed", "Terminating", "Terminated", "Failed")


def completed(job: VolcanoJob) -> VolcanoJob:
    """The job with its webhook's defaults: queue, scheduler, names and minimums of its tasks, its own minimum."""
    tasks = tuple(
        structs.replace(task, name=task.name or f"default{number}", min_available=_minimum_of(task))
        for number, task in enumerate(job.spec.tasks)
    )
    spec = structs.replace(
        job.spec,
        queue=job.spec.queue or DEFAULT_QUEUE,
        scheduler_name=job.spec.scheduler_name or SCHEDULER,
        min_available=job.spec.min_available or sum(_minimum_of(task) for task in tasks),
        tasks=tasks,
    )
    return structs.replace(job, spec=spec)


def _minimum_of(task: VolcanoTask) -> int:
    """How many of a task must run. Partitions set it only if some of them are said to be needed."""
    if task.min_available is not None:
        return task.min_available
    policy = task.partition_policy
    partitions = policy.min_partitions * policy.partition_size if policy else 0
    return partitions if partitions > 0 else task.replicas


def is_over(job: VolcanoJob) -> bool:
    """Whether the job wants no pods any more."""
    return job.status.state.phase in _OVER


def group_name(job: VolcanoJob) -> str:
    """The name of the job's PodGroup."""
    return f"{job.metadata.name}-{job.metadata.uid}"


def pod_group_of(job: VolcanoJob, priorities: Mapping[str, int]) -> PodGroup:
    """The job's PodGroup. `priorities` says what the priority classes are worth."""
    meta, spec = job.metadata, job.spec
    minimum = _min_resources(job, priorities)
    return PodGroup(
        metadata=Metadata(
            name=group_name(job),
            namespace=meta.namespace,
            labels=meta.labels,
            annotations=meta.annotations,
            owner_references=(controller_reference(job),),
        ),
        spec=PodGroupSpec(
            min_member=spec.min_available,
            min_task_member={task.name: _minimum_of(task) for task in spec.tasks},
            queue=spec.queue,
            priority_class_name=spec.priority_class_name,
            min_resources=dict(format_amounts(in_order(minimum))),
            sub_group_policy=tuple(_sub_group(task) for task in spec.tasks if task.partition_policy),
            network_topology=spec.network_topology,
        ),
    )


def _sub_group(task: VolcanoTask) -> SubGroupPolicy:
    """The sub-groups that a task's partitions are."""
    policy = task.partition_policy
    return SubGroupPolicy(
        name=task.name,
        sub_group_size=policy.partition_size if policy else 1,
        min_sub_groups=policy.min_partitions if policy else 0,
        label_selector=LabelSelector(match_labels={TASK: task.name}),
        match_label_keys=(PARTITION,),
        network_topology=policy.network_topology if policy else None,
    )


def _min_resources(job: VolcanoJob, priorities: Mapping[str, int]) -> Totals:
    """What the job's minimum needs, the most urgent tasks first.

    If the tasks' own minimums are all to be met, they count first and others fill up; else tasks count in full.
    """
    wanted = job.spec.min_available
    tasks = sorted(job.spec.tasks, key=lambda task: -priorities.get(task.template.spec.priority_class_name, 0))
    all_minimums = wanted >= sum(_minimum_of(task) for task in tasks)
    first = [(task, _minimum_of(task) if all_minimums else task.replicas) for task in tasks]
    rest = [(task, task.replicas - _minimum_of(task)) for task in tasks] if all_minimums else []
    parts: list[Totals] = []
    for task, most in (*first, *rest):
        number = max(0, min(most, wanted))
        wanted -= number
        parts.append(_times(quota_usage(Pod(metadata=job.metadata, spec=task.template.spec)), number))
    return sum_of(part for part in parts if part)


def _times(usage: Totals, number: int) -> Totals:
    return {name: value * number for name, value in usage.items()} if number else {}


def pods_of(job: VolcanoJob) -> Iterable[Pod]:
    """All pods of all tasks."""
    return (pod_of(job, task, index) for task in job.spec.tasks for index in range(task.replicas))


def pod_of(job: VolcanoJob, task: VolcanoTask, index: int) -> Pod:
    """One pod of a task."""
    meta, spec = job.metadata, job.spec
    template = task.template.spec
    completed = structs.replace(
        template,
        scheduler_name=template.scheduler_name or spec.scheduler_name,
        priority_class_name=template.priority_class_name or spec.priority_class_name,
    )
    about = {INDEX: str(index), TASK: task.name, "volcano.sh/job-name": meta.name, "volcano.sh/queue-name": spec.queue}
    notes = about | {
        GROUP_NAME: group_name(job),
        "volcano.sh/job-version": str(job.status.version),
        "volcano.sh/job-retry-count": str(job.status.retry_count),
        "volcano.sh/template-uid": f"{meta.name}-{task.name}",
    }
    labels = about | {"volcano.sh/job-namespace": meta.namespace}
    if task.topology_policy:
        notes[NUMA_POLICY] = task.topology_policy
    if task.partition_policy:
        labels[PARTITION] = str(index // max(task.partition_policy.partition_size, 1))
    notes |= {key: meta.annotations[key] for key in _NOTES_OF_JOB if key in meta.annotations}
    labels |= {key: meta.labels[key] for key in _LABELS_OF_JOB if key in meta.labels}
    whole = PodTemplate(metadata=task.template.metadata, spec=completed)
    return pod_from(job, numbered(f"{meta.name}-{task.name}", index), whole, labels, notes)


def replacement(job: VolcanoJob, lost: Pod) -> Pod | None:
    """The pod that takes a lost one's place, if the job still has that place."""
    task = next((task for task in job.spec.tasks if task.name == lost.metadata.annotations.get(TASK)), None)
    index = lost.metadata.name.rpartition("-")[2]
    if task is None or not index.isdecimal() or int(index) >= task.replicas:
        return None
    return pod_of(job, task, int(index))
