"""Volcano: PodGroups are gangs, Queues are queues, and annotations say the rest.

A pod belongs to the PodGroup that its annotation `scheduling.k8s.io/group-name` names, in its own namespace. Its role
(`volcano.sh/task-spec`), its priority (`volcano.sh/task-priority`) and whether it may be preempted
(`volcano.sh/preemptable`) are annotations too, the first and the last also labels.
"""

import re
from collections.abc import Mapping

from msgspec import structs

from posse.cluster.facts import Amounts, GangFact, QueueFact, Rules, SubgroupPolicy, TaskFact
from posse.dialects.customs import Customs
from posse.dialects.selectors import selector_of
from posse.errors import Place
from posse.kube.meta import Metadata
from posse.kube.objects import PodGroup, Queue, SubGroupPolicy
from posse.kube.quantity import amounts, countable, in_order

DIALECT = "volcano"
SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"

GROUP_NAME = "scheduling.k8s.io/group-name"
ROLE = "volcano.sh/task-spec"
PRIORITY = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_INTEGER = re.compile(r"[-+]?\d{1,10}", re.ASCII)
_NATIVE_SCALARS = ("hugepages-", "attachable-volumes-")


def group_of(meta: Metadata) -> str:
    """The key of the gang that a pod is a member of, empty if it names none."""
    name = meta.annotations.get(GROUP_NAME, "")
    return f"{meta.namespace}/{name}" if name else ""


def with_annotations(task: TaskFact) -> TaskFact:
    """The task as Volcano's annotations on the pod would have it."""
    notes = task.annotations
    if not notes and not task.labels:
        return task
    return structs.replace(
        task,
        role=notes.get(ROLE) or task.labels.get(ROLE, ""),
        priority=_priority(notes, task.priority),
        preemptable=is_preemptable(notes, task.labels, default=True),
    )


def _priority(annotations: Mapping[str, str], otherwise: int | None) -> int | None:
    """The priority that an annotation gives, if it is a number that a priority can be."""
    text = annotations.get(PRIORITY, "")
    if not _INTEGER.fullmatch(text):
        return otherwise
    value = int(text)
    return value if -(2**31) <= value < 2**31 else otherwise


def is_preemptable(annotations: Mapping[str, str], labels: Mapping[str, str], *, default: bool) -> bool:
    """Whether something may be preempted: the annotation says, else the label. Words that are no boolean mean no."""
    for words in (annotations, labels):
        if PREEMPTABLE in words:
            return words[PREEMPTABLE] in _TRUE
    return default


def gang_fact(group: PodGroup, customs: Customs = Customs()) -> GangFact:  # noqa: B008
    """A PodGroup as a gang."""
    meta, spec = group.metadata, group.spec
    where, minimum = "spec.minResources", spec.min_resources
    declared = None if minimum is None else in_order(countable(amounts(minimum, str(group), where), str(group), where))
    return GangFact(
        key=f"{meta.namespace}/{meta.name}",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        created=group.created,
        dialect=DIALECT,
        queue=spec.queue or DEFAULT_QUEUE,
        min_member=spec.min_member,
        min_roles=tuple(sorted(spec.min_task_member.items())),
        subgroups=tuple(_subgroup(group, policy, number) for number, policy in enumerate(spec.sub_group_policy)),
        priority_class=spec.priority_class_name,
        min_resources=None if declared is None else _for_nodes(declared),
        quota_resources=declared or (),
        preemptable=is_preemptable(meta.annotations, meta.labels, default=False),
        phase=group.status.phase,
        labels=meta.labels,
        annotations=meta.annotations,
        rules=Rules(gated_count=customs.gated_count, selector_alone_groups=customs.selector_alone_groups),
    )


def _subgroup(group: PodGroup, policy: SubGroupPolicy, number: int) -> SubgroupPolicy:
    place = Place(object=str(group), field=f"spec.subGroupPolicy[{number}].labelSelector")
    return SubgroupPolicy(
        name=policy.name,
        size=policy.sub_group_size,
        min_groups=policy.min_sub_groups,
        selector=selector_of(policy.label_selector, place),
        match_keys=policy.match_label_keys,
    )


def _for_nodes(declared: Amounts) -> Amounts:
    """What the gang needs of nodes. Other names (`requests.cpu`, `count/pods`) are for quotas only."""
    return tuple((name, value) for name, value in declared if is_node_resource(name))


def is_node_resource(name: str) -> bool:
    """Whether a node can have a resource of this name: one of Kubernetes' own, or an extended one."""
    if name in ("cpu", "memory", "pods", "ephemeral-storage") or name.startswith(_NATIVE_SCALARS):
        return True
    return "/" in name and not name.startswith(("requests.", "limits.", "count/"))


def queue_fact(queue: Queue) -> QueueFact:
    """A Queue. Unless it says otherwise it lends and gives back; a state that nobody set means open."""
    meta, spec, owner, guarantee = queue.metadata, queue.spec, str(queue), "spec.guarantee.resource"
    return QueueFact(
        key=meta.name,
        name=meta.name,
        uid=meta.uid,
        created=queue.created,
        weight=spec.weight,
        priority=spec.priority,
        parent=spec.parent,
        reclaimable=spec.reclaimable is not False,
        capability=in_order(amounts(spec.capability, owner, "spec.capability")),
        deserved=in_order(amounts(spec.deserved, owner, "spec.deserved")),
        guarantee=in_order(countable(amounts(spec.guarantee.resource, owner, guarantee), owner, guarantee)),
        state=queue.status.state or "Open",
        labels=meta.labels,
        annotations=meta.annotations,
    )
