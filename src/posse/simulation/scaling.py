"""Scaling: what a controller does with the pods that are there when its workload is changed.

It follows the number of pods, and for a Volcano Job whatever else its PodGroup says. Pods that are there keep the
template that they were made from: no controller changes a pod, and rolling updates are not simulated.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice

from msgspec import Struct, structs

from posse.cluster.ordering import natural
from posse.kube.meta import KubeObject
from posse.kube.objects import Pod
from posse.kube.workloads import (
    Deployment,
    Job,
    PodTemplate,
    ReplicaSet,
    StatefulSet,
    VolcanoJob,
    VolcanoJobSpec,
    Workload,
)
from posse.simulation.workloads import children_of, parallelism, replica, worker

OVER = ("Succeeded", "Failed")


class Change(Struct, frozen=True):
    """What is made, before admission, and which pods are too many."""

    made: list[KubeObject]
    surplus: list[Pod]


def is_rescaled(stood: Workload, owner: Workload) -> bool:
    """Whether a workload wants another number of pods than the one that stood there."""
    return _size(stood) != _size(owner)


def is_remodelled(stood: Workload, owner: Workload) -> bool:
    """Whether pods that it makes from now on differ from those it made."""
    return _templates(stood) != _templates(owner)


def rescaled(owner: Workload, pods: Sequence[Pod], priorities: Mapping[str, int]) -> Change:
    """What becomes of a workload's own pods. What a Deployment has is a ReplicaSet, which is asked for its pods."""
    match owner:
        case ReplicaSet():
            return _by_number(pods, owner.spec.replicas, (replica(owner, number) for number in count()))
        case Job():
            return _by_number(pods, _wanted(owner, pods), (worker(owner, str(number)) for number in count()))
        case StatefulSet() | VolcanoJob():
            return _by_name(pods, children_of(owner, (), dict(priorities)))
        case _:
            return Change([], [])


def _by_number(pods: Sequence[Pod], wanted: int, endless: Iterator[Pod]) -> Change:
    """Pods of equal standing: the first free names are taken, and those that wait leave before those with a node."""
    alive = [pod for pod in pods if pod.status.phase not in OVER]
    taken = {pod.metadata.name for pod in pods}
    free = (pod for pod in endless if pod.metadata.name not in taken)
    in_order = sorted(alive, key=lambda pod: (not pod.spec.node_name, natural(pod.metadata.name)))
    return Change(list(islice(free, max(0, wanted - len(alive)))), in_order[wanted:])


def _by_name(pods: Sequence[Pod], wanted: Sequence[KubeObject]) -> Change:
    """Pods each of which has its place."""
    there = {pod.metadata.name for pod in pods}
    names = {thing.metadata.name for thing in wanted if isinstance(thing, Pod)}
    made = [thing for thing in wanted if not (isinstance(thing, Pod) and thing.metadata.name in there)]
    return Change(made, [pod for pod in pods if pod.metadata.name not in names])


def _wanted(owner: Job, pods: Sequence[Pod]) -> int:
    """How many pods a Job runs at once, no more than are left to succeed."""
    succeeded = sum(pod.status.phase == "Succeeded" for pod in pods)
    left = owner.spec.completions
    return parallelism(owner) if left is None else max(0, min(parallelism(owner), left - succeeded))


def _size(owner: Workload) -> object:
    match owner:
        case Deployment() | ReplicaSet() | StatefulSet():
            return owner.spec.replicas
        case Job():
            return parallelism(owner)
        case VolcanoJob():
            return _bare(owner.spec)
        case _:
            return None


def _bare(spec: VolcanoJobSpec) -> VolcanoJobSpec:
    return structs.replace(spec, tasks=tuple(structs.replace(task, template=PodTemplate()) for task in spec.tasks))


def _templates(owner: Workload) -> list[PodTemplate]:
    match owner:
        case VolcanoJob():
            return [task.template for task in owner.spec.tasks]
        case Deployment() | ReplicaSet() | StatefulSet() | Job():
            return [owner.spec.template]
        case _:
            return []
