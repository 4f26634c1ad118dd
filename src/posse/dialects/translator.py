"""The translator: typed objects in, in any order, observations for the world out.

It keeps as little as it can: what an object means does not depend on what was seen before, with one exception. A lone
pod makes a gang that no object declares, so the translator remembers which pods have one, to say when it is gone.
Hence any order of the same `put`s ends in the same facts.

Which dialect a pod speaks: an explicit membership decides, else its scheduler's name, else it is plain.
"""

from collections.abc import Callable, Collection, MutableMapping
from functools import partial
from typing import Any, Literal

from msgspec import structs

from posse.cluster.facts import Gone, Observation, TaskFact
from posse.cluster.overlay import Overlay
from posse.cluster.storage import StorageKind
from posse.dialects import core, plain, volcano, volumes
from posse.dialects.customs import Customs
from posse.dialects.pods import phase_of, task_of
from posse.dialects.shapes import Shapes
from posse.dialects.unread import unread_membership
from posse.dialects.words import Words
from posse.kube.meta import KubeObject
from posse.kube.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    Queue,
    ResourceQuota,
    StorageClass,
)

Kind = Literal["node", "gang", "queue", "priority-class", "namespace", "budget", "quota"] | StorageKind

Facts = dict[type[KubeObject], tuple[Kind, Callable[[Any], Observation]]]

_FACTS: Facts = {
    CSIDriver: ("storage-driver", volumes.driver_fact),
    CSINode: ("attach-limits", volumes.limits_fact),
    CSIStorageCapacity: ("storage-capacity", volumes.capacity_fact),
    Namespace: ("namespace", core.namespace_fact),
    Node: ("node", core.node_fact),
    PersistentVolume: ("volume", volumes.volume_fact),
    PersistentVolumeClaim: ("volume-claim", volumes.claim_fact),
    PodDisruptionBudget: ("budget", core.budget_fact),
    PriorityClass: ("priority-class", core.priority_class_fact),
    Queue: ("queue", volcano.queue_fact),
    ResourceQuota: ("quota", core.quota_fact),
    StorageClass: ("storage-class", volumes.class_fact),
}
"""The classes that become one fact each: what kind of fact, and how."""


class Translator:
    """Turns objects into observations. `scheduler_names` says whose pods are ours; None: everybody's."""

    def __init__(self, scheduler_names: Collection[str] | None = None, customs: Customs = Customs()) -> None:  # noqa: B008
        self._customs = customs
        self._facts = _FACTS | {PodGroup: ("gang", partial(volcano.gang_fact, customs=customs))}
        self._ours = None if scheduler_names is None else frozenset(scheduler_names)
        self._alone: MutableMapping[str, str] = {}
        """Pods that are a gang of their own: key of the gang, and the pod's uid."""
        self._words, self._shapes = Words(), Shapes()

    def fork(self) -> "Translator":
        """A copy that goes on from here. This one must rest while it is in use."""
        other = Translator(self._ours, self._customs)
        other._alone = Overlay(self._alone)
        return other

    def put(self, thing: KubeObject) -> list[Observation]:
        """Say what an object means, new or changed. Kinds that mean nothing to the model give nothing."""
        if isinstance(thing, Pod):
            return self._put_pod(thing)
        known = self._facts.get(type(thing))
        return [known[1](thing)] if known else []

    def misses(self, pod: Pod) -> str:
        """Say how a pod of ours that waits names its gang, if that is not read and it is taken for one alone."""
        waits = not pod.spec.node_name and phase_of(pod) == "Pending"
        return unread_membership(pod) if waits and self._is_ours(pod) else ""

    def remove(self, kind: str, namespace: str, name: str, uid: str = "") -> list[Observation]:
        """Say that an object is gone; an empty uid means whichever stands there."""
        if kind == Pod.KIND:
            return [Gone(kind="task", key=f"{namespace}/{name}", uid=uid), *self._no_longer_alone(namespace, name, uid)]
        return [
            Gone(kind=fact, key=f"{namespace}/{name}" if known.NAMESPACED else name, uid=uid)
            for known, (fact, _) in self._facts.items()
            if kind == known.KIND
        ]

    def _put_pod(self, pod: Pod) -> list[Observation]:
        task = self._words.retold(task_of(pod, self._shapes.of(pod)))
        if not self._is_ours(pod):
            return [*self._no_longer_alone(task.namespace, task.name), task]
        task = volcano.with_annotations(task)
        gang = self._words.known(volcano.group_of(pod.metadata))
        if gang:
            return [*self._no_longer_alone(task.namespace, task.name), structs.replace(task, gang=gang)]
        if pod.spec.scheduler_name == volcano.SCHEDULER and not self._customs.lone_volcano_pods:
            return [*self._no_longer_alone(task.namespace, task.name), task]
        return self._put_alone(task, pod.spec.scheduler_name)

    def _put_alone(self, task: TaskFact, scheduler: str) -> list[Observation]:
        if scheduler == volcano.SCHEDULER:
            queue = task.annotations.get(volcano.QUEUE_NAME) or volcano.DEFAULT_QUEUE
            gang = plain.gang_of_one(task, volcano.DIALECT, queue)
        else:
            gang = plain.gang_of_one(task)
        self._alone[gang.key] = gang.uid
        return [gang, structs.replace(task, gang=gang.key)]

    def _no_longer_alone(self, namespace: str, name: str, uid: str = "") -> list[Observation]:
        key = plain.key_of(namespace, name)
        known = self._alone.get(key)
        if known is None or (uid and known != uid):
            return []
        del self._alone[key]
        return [Gone(kind="gang", key=key, uid=known)]

    def _is_ours(self, pod: Pod) -> bool:
        return self._ours is None or (pod.spec.scheduler_name or "default-scheduler") in self._ours
