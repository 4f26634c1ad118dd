"""Admission: what an API server and its usual admission controllers add to objects as they arrive.

A manifest written by hand leaves out what the cluster knows: who it is (see `identities`), what its priority class is
worth, what a namespace's LimitRange gives to containers that ask for nothing, what its runtime needs on top, which
queue it is in. An object that has a uid came out of a cluster: it was admitted there and passes through unchanged.

What arrives together is looked at together, so a class and the pod that names it may come in any order.
"""

from collections.abc import Iterable, Mapping

from msgspec import structs

from posse.errors import InputError, Place
from posse.kube.meta import KubeObject, Metadata
from posse.kube.objects import (
    LimitRange,
    Namespace,
    Node,
    PersistentVolume,
    Pod,
    PodGroup,
    PriorityClass,
    Queue,
    RuntimeClass,
    VolcanoJob,
)
from posse.kube.objects import QueueSpec as _QueueSpec
from posse.kube.pods import PodSpec
from posse.kube.quantity import Quantity
from posse.simulation import volcano_jobs
from posse.simulation.containers import ContainerDefaults, with_defaults
from posse.simulation.identities import Identities, Identity, identity_of
from posse.simulation.refusals import refuse
from posse.simulation.volumes import with_phase

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_QUEUE = "default"
ROOT_QUEUE = "root"
QUEUE_OF_NAMESPACE = "scheduling.volcano.sh/queue-name"
"""On a namespace: the queue of its gangs that name none."""

PODS_PER_NODE = "110"
"""What a kubelet allows where nobody says otherwise."""

OLDEST = "1970-01-01T00:00:00Z"
"""When what every cluster has was created: before all else."""

_BUILT_IN: tuple[KubeObject, ...] = (
    PriorityClass(metadata=Metadata(name="system-cluster-critical", creation_timestamp=OLDEST), value=2_000_000_000),
    PriorityClass(metadata=Metadata(name="system-node-critical", creation_timestamp=OLDEST), value=2_000_001_000),
    Queue(metadata=Metadata(name=ROOT_QUEUE, creation_timestamp=OLDEST), spec=_QueueSpec(reclaimable=False)),
    Queue(metadata=Metadata(name=DEFAULT_QUEUE, creation_timestamp=OLDEST)),
)


def with_built_ins(things: Iterable[KubeObject]) -> list[KubeObject]:
    """Add what every cluster has: the system priority classes, and the queues root and default."""
    given = list(things)
    known = {identity_of(thing) for thing in given}
    return [*given, *(thing for thing in _BUILT_IN if identity_of(thing) not in known)]


class Admission:
    """Completes objects. Remembers the classes, limits and namespaces it was shown, and whom it gave which identity."""

    def __init__(self) -> None:
        self._identities = Identities()
        self._classes: dict[str, PriorityClass] = {}
        self._limits: dict[str, dict[str, LimitRange]] = {}
        self._runtimes: dict[str, RuntimeClass] = {}
        self._namespaces: dict[str, Namespace] = {}

    def admit(self, things: Iterable[KubeObject], now: int) -> list[KubeObject]:
        """Complete what arrives together at an instant; the result is in natural order."""
        given = list(things)
        admitted = {thing.metadata.uid for thing in given}
        known = self._identities.register(given, now)
        for thing in known:
            refuse(thing)
            self._learn(thing)
        return [thing if thing.metadata.uid in admitted else self._complete(thing) for thing in known]

    def forget(self, identity: Identity) -> None:
        """An object is gone."""
        self._identities.forget(identity)
        _, kind, namespace, name = identity
        match kind:
            case PriorityClass.KIND:
                self._classes.pop(name, None)
            case LimitRange.KIND:
                self._limits.get(namespace, {}).pop(name, None)
            case RuntimeClass.KIND:
                self._runtimes.pop(name, None)
            case Namespace.KIND:
                self._namespaces.pop(name, None)

    @property
    def classes(self) -> list[PriorityClass]:
        """The priority classes that there are."""
        return list(self._classes.values())

    def fork(self) -> "Admission":
        """A copy that goes on from here. This one must rest while it is in use."""
        other = Admission()
        other._identities = self._identities.fork()
        other._classes, other._runtimes, other._namespaces = (
            dict(self._classes),
            dict(self._runtimes),
            dict(self._namespaces),
        )
        other._limits = {namespace: dict(limits) for namespace, limits in self._limits.items()}
        return other

    def _learn(self, thing: KubeObject) -> None:
        name = thing.metadata.name
        match thing:
            case PriorityClass():
                self._classes[name] = thing
            case LimitRange():
                self._limits.setdefault(thing.metadata.namespace, {})[name] = thing
            case RuntimeClass():
                self._runtimes[name] = thing
            case Namespace():
                self._namespaces[name] = thing

    def _complete(self, thing: KubeObject) -> KubeObject:
        match thing:
            case Pod():
                return self._pod(thing)
            case Node():
                return _node(thing)
            case PodGroup():
                queue = self._queue(thing.spec.queue, thing.metadata.namespace)
                return structs.replace(thing, spec=structs.replace(thing.spec, queue=queue))
            case VolcanoJob():
                return volcano_jobs.completed(thing)
            case PersistentVolume():
                return with_phase(thing)
            case Queue() if thing.spec.weight == 0:
                return structs.replace(thing, spec=structs.replace(thing.spec, weight=1))
            case _:
                return thing

    def _queue(self, named: str, namespace: str) -> str:
        if named and named != DEFAULT_QUEUE:
            return named
        home = self._namespaces.get(namespace)
        return home.metadata.annotations.get(QUEUE_OF_NAMESPACE, DEFAULT_QUEUE) if home else DEFAULT_QUEUE

    def _pod(self, pod: Pod) -> Pod:
        spec = structs.replace(pod.spec, scheduler_name=pod.spec.scheduler_name or DEFAULT_SCHEDULER)
        spec = self._with_priority(pod, spec)
        spec = self._with_runtime(spec)
        limits = self._limits.get(pod.metadata.namespace)
        defaults = ContainerDefaults.of(limits.values()) if limits else ContainerDefaults()
        return structs.replace(pod, spec=with_defaults(spec, defaults))

    def _with_priority(self, pod: Pod, spec: PodSpec) -> PodSpec:
        if spec.priority is not None:
            return spec
        found = self._class_of(pod, spec.priority_class_name)
        if found is None:
            return structs.replace(spec, priority=0)
        policy = spec.preemption_policy or found.preemption_policy
        name = found.metadata.name
        return structs.replace(spec, priority=found.value, priority_class_name=name, preemption_policy=policy)

    def _class_of(self, pod: Pod, name: str) -> PriorityClass | None:
        if not name:
            defaults = [one for _, one in sorted(self._classes.items()) if one.global_default]
            return min(defaults, key=lambda one: one.value, default=None)
        if name not in self._classes:
            place = Place(object=str(pod), field="spec.priorityClassName")
            known = ", ".join(sorted(self._classes)) or "a PriorityClass of the input"
            raise InputError(f"there is no PriorityClass {name!r}", place=place, accepted=known)
        return self._classes[name]

    def _with_runtime(self, spec: PodSpec) -> PodSpec:
        runtime = self._runtimes.get(spec.runtime_class_name)
        if runtime is None:
            return spec
        overhead: Mapping[str, Quantity] = spec.overhead or runtime.overhead.pod_fixed
        selector = spec.node_selector | runtime.scheduling.node_selector
        return structs.replace(spec, overhead=dict(overhead), node_selector=selector)


def _node(node: Node) -> Node:
    """A node that says what it has, but not how many pods it takes, takes as many as a kubelet would."""
    status = node.status
    given = status.allocatable or status.capacity
    if not given or "pods" in given:
        return node
    pods = {"pods": status.capacity.get("pods", PODS_PER_NODE)}
    return structs.replace(node, status=structs.replace(status, allocatable={**given, **pods}))
