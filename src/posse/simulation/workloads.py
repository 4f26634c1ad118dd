"""Workloads: what their controllers would make of them, and what comes back when a pod is lost.

A file that holds only a Deployment means its pods as well; a dump that holds both must not double them. So an owner is
expanded if nothing that it would make is there: no pod below it, and no workload either, which then speaks for itself.

Names are made up the same way each time (see `pod_names`). Controllers that create pods one after the other (ordered
StatefulSets, tasks that depend on others, completions beyond the parallelism) create all at once here.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct, structs

from posse.kube.meta import KubeObject, Metadata, OwnerReference, group_of
from posse.kube.objects import Node, Pod, PriorityClass
from posse.kube.pods import Condition
from posse.kube.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicatedSpec,
    StatefulSet,
    VolcanoJob,
    Workload,
)
from posse.simulation import daemons, volcano_jobs
from posse.simulation.identities import Identity, identity_of
from posse.simulation.ownership import in_circles, owners_of
from posse.simulation.pod_names import made_up, numbered, successor
from posse.simulation.templates import controller_reference, pod_from

TEMPLATE_HASH = "pod-template-hash"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"

Admit = Callable[[list[KubeObject]], list[KubeObject]]
"""Completes what a controller creates, as an API server would."""


class Expansion(Struct, frozen=True):
    """What the owners of an input made, admitted, and what could not be made."""

    made: list[KubeObject]
    warnings: list[str]


def expand(things: Sequence[KubeObject], admit: Admit, world: Sequence[KubeObject] = ()) -> Expansion:
    """Make what the workloads among admitted objects would make. `world` is what else is there: nodes, classes."""
    everything = [*world, *things]
    circles = in_circles(thing for thing in everything if isinstance(thing, Workload))
    served = _served_in(everything, circles)
    present = {identity_of(thing) for thing in everything}
    nodes = [thing for thing in everything if isinstance(thing, Node)]
    values = {thing.metadata.name: thing.value for thing in everything if isinstance(thing, PriorityClass)}
    owners = [thing for thing in things if isinstance(thing, Workload)]
    warnings = [f"{owner} is not run: the calendar is not simulated" for owner in owners if isinstance(owner, CronJob)]
    warnings += [
        f"{owner} belongs to itself by its ownerReferences: taken as if it had no owner"
        for owner in owners
        if identity_of(owner) in circles
    ]
    todo = [owner for owner in owners if identity_of(owner) not in served]
    made: list[KubeObject] = []
    while todo:
        children = [child for owner in todo for child in children_of(owner, nodes, values)]
        admitted = admit([child for child in children if identity_of(child) not in present])
        made += admitted
        todo = [child for child in admitted if isinstance(child, Workload)]
    return Expansion(made, warnings)


def _served_in(things: Iterable[KubeObject], circles: set[Identity]) -> set[Identity]:
    """The owners that have a pod or a workload already. Pods speak for an absent ReplicaSet's Deployment too.

    What is in a circle is nobody's.
    """
    served: set[Identity] = set()
    for thing in things:
        if not isinstance(thing, Pod | Workload) or identity_of(thing) in circles:
            continue
        served.update(owners_of(thing))
        for owner in thing.metadata.owner_references:
            beyond = _owner_beyond(owner, thing)
            if beyond:
                served.add((*beyond, thing.metadata.namespace, owner.name.rpartition("-")[0]))
    return served


def _owner_beyond(owner: OwnerReference, thing: KubeObject) -> tuple[str, str] | None:
    """The kind whose name an owner's generated name starts with."""
    revision = thing.metadata.labels.get(TEMPLATE_HASH)
    if owner.kind == ReplicaSet.KIND and revision and owner.name.endswith(f"-{revision}"):
        return group_of(Deployment.API_VERSION), Deployment.KIND
    return None


def children_of(owner: Workload, nodes: Iterable[Node], priorities: dict[str, int]) -> list[KubeObject]:
    """What the controller of one workload creates, before admission."""
    children: list[KubeObject] = []
    match owner:
        case Deployment():
            children += [_replica_set(owner)]
        case ReplicaSet():
            children += (replica(owner, number) for number in range(owner.spec.replicas))
        case StatefulSet():
            first = owner.spec.ordinals.start
            children += (_stateful(owner, first + number) for number in range(owner.spec.replicas))
        case DaemonSet():
            children += daemons.daemons_of(owner, nodes)
        case Job():
            children += (worker(owner, str(number)) for number in range(parallelism(owner)))
        case VolcanoJob() if not volcano_jobs.is_over(owner):
            whole = volcano_jobs.completed(owner)
            children += [volcano_jobs.pod_group_of(whole, priorities), *volcano_jobs.pods_of(whole)]
    return children


def recreate(owner: KubeObject, lost: Pod) -> Pod | None:
    """The pod that an owner's controller creates when it has lost one, before admission; None if it creates none."""
    name = lost.metadata.name
    number = name.rpartition("-")[2]
    match owner:
        case Deployment() | ReplicaSet() if owner.spec.replicas:
            again = pod_from(owner, name, owner.spec.template)
            return _renamed(again, lost, owner.spec.replicas)
        case StatefulSet() if number.isdecimal():
            return _stateful(owner, int(number))
        case DaemonSet():
            return _renamed(daemons.daemon_on(owner, daemons.node_of(lost)), lost, 1)
        case Job() if places := parallelism(owner):
            return _renamed(worker(owner, lost.metadata.annotations.get(COMPLETION_INDEX, number)), lost, places)
        case VolcanoJob() if not volcano_jobs.is_over(owner):
            return volcano_jobs.replacement(volcano_jobs.completed(owner), lost)
        case _:
            return None


def next_worker(owner: KubeObject, finished: Pod, siblings: Iterable[Pod]) -> Pod | None:
    """The pod that a Job starts when one of its pods has ended, before admission; None if it wants no more.

    One that failed is made up for. `siblings` are all pods of the Job, the finished one included.
    """
    if not isinstance(owner, Job) or not parallelism(owner):
        return None
    wanted = [pod for pod in siblings if pod.status.phase != "Failed"]
    if owner.spec.completions is None:
        if finished.status.phase != "Failed" or any(pod.status.phase == "Succeeded" for pod in wanted):
            return None
    elif len(wanted) >= owner.spec.completions:
        return None
    taken = {pod.metadata.annotations.get(COMPLETION_INDEX) for pod in wanted}
    free = next(str(index) for index in range(len(wanted) + 1) if str(index) not in taken)
    return _renamed(worker(owner, free), finished, parallelism(owner))


def given_up(owner: Job, siblings: Iterable[Pod]) -> Job | None:
    """A Job that gives up because more of its pods failed than it bears; None if it goes on."""
    failed = sum(pod.status.phase == "Failed" for pod in siblings)
    if failed <= owner.spec.backoff_limit or _is_over(owner):
        return None
    limit = f"{failed} of its pods failed, and its backoffLimit is {owner.spec.backoff_limit}"
    failure = Condition("Failed", "True", "BackoffLimitExceeded", limit)
    status = structs.replace(owner.status, conditions=(*owner.status.conditions, failure))
    return structs.replace(owner, status=status)


def _renamed(again: Pod, lost: Pod, places: int) -> Pod:
    """The new pod under a name of its own, below the same owner, which may be a ReplicaSet between owner and pod."""
    was, owner = lost.metadata, lost.controller
    revision = {TEMPLATE_HASH: was.labels[TEMPLATE_HASH]} if TEMPLATE_HASH in was.labels else {}
    above = owner.name if owner else again.metadata.owner_references[0].name
    meta = structs.replace(
        again.metadata,
        name=successor(above, was.name, places),
        labels=again.metadata.labels | revision,
        owner_references=was.owner_references or again.metadata.owner_references,
    )
    return structs.replace(again, metadata=meta)


def _replica_set(owner: Deployment) -> ReplicaSet:
    meta, spec = owner.metadata, owner.spec
    revision = made_up(msgspec.json.encode(spec.template, order="deterministic").decode(), 10)
    labels = {TEMPLATE_HASH: revision}
    template_meta = structs.replace(spec.template.metadata, labels=spec.template.metadata.labels | labels)
    template = structs.replace(spec.template, metadata=template_meta)
    return ReplicaSet(
        metadata=Metadata(
            name=f"{meta.name}-{revision}",
            namespace=meta.namespace,
            labels=template_meta.labels,
            owner_references=(controller_reference(owner),),
        ),
        spec=ReplicatedSpec(replicas=spec.replicas, selector=spec.selector, template=template),
    )


def replica(owner: ReplicaSet, number: int) -> Pod:
    """Make one pod of a ReplicaSet."""
    return pod_from(owner, numbered(owner.metadata.name, number), owner.spec.template)


def _stateful(owner: StatefulSet, number: int) -> Pod:
    name = numbered(owner.metadata.name, number)
    labels = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(number)}
    return pod_from(owner, name, owner.spec.template, labels)


def worker(owner: Job, place: str) -> Pod:
    """Make one pod of a Job."""
    name = owner.metadata.name
    index = {COMPLETION_INDEX: place} if owner.spec.completion_mode == "Indexed" else {}
    labels = {"batch.kubernetes.io/job-name": name, "job-name": name} | index
    return pod_from(owner, f"{name}-{place}", owner.spec.template, labels, index)


def parallelism(owner: Job) -> int:
    """Say how many pods a Job runs at once. Without a number of completions it is one, unless it says otherwise."""
    spec = owner.spec
    if spec.suspend or _is_over(owner):
        return 0
    at_once = 1 if spec.parallelism is None else spec.parallelism
    return at_once if spec.completions is None else min(at_once, spec.completions)


def _is_over(owner: Job) -> bool:
    return any(one.type in ("Complete", "Failed") and one.status == "True" for one in owner.status.conditions)
