"""The objects of a result: what scheduler and controllers made or changed, as manifests, as they stand at the end.

The simulated cluster knows what it made and changed itself: pods of an owner, a pod's node and phase. What the
scheduler says about objects is no part of its decisions, so it is put on here: a PodGroup's status, why a pod waits,
what a queue has in use.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from posse.cluster.ordering import natural
from posse.cluster.records import Bind
from posse.kube.encoding import manifest_of
from posse.kube.meta import KubeObject, rfc3339
from posse.kube.objects import PodGroup, PodGroupStatus, Queue
from posse.kube.pods import Condition, Pod, PodStatus
from posse.simulation import unclaimed
from posse.simulation.history import History
from posse.simulation.identities import Identity
from posse.simulation.run import Run

PLACED = "PodScheduled"


def objects_of(
    run: Run, statuses: Mapping[str, PodGroupStatus], allocated: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """What was made or changed in a run.

    `statuses` are those of the PodGroups by namespace and name, `allocated` is what queues have in use.
    """
    saying = _Sayings(run, statuses, allocated)
    found: list[tuple[Identity, KubeObject]] = []
    for identity, thing in run.cluster.objects.items():
        told = saying.told(thing)
        if told is not thing or identity in run.cluster.touched:
            found.append((identity, told))
    return [manifest_of(_as_served(thing)) for _, thing in sorted(found, key=lambda each: _natural_order(each[0]))]


class _Sayings:
    """What the scheduler has to say about objects."""

    def __init__(
        self, run: Run, statuses: Mapping[str, PodGroupStatus], allocated: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._history, self._statuses, self._allocated = run.history, statuses, allocated
        self._told, self._now = run.history.told | unclaimed.told(run), run.now_at_end
        self._bound, self._waiting = _since_when(run.history)

    def told(self, thing: KubeObject) -> KubeObject:
        """The object with what is said about it; the same one if nothing is."""
        match thing:
            case PodGroup():
                status = self._statuses[_key(thing)]
                return thing if status == thing.status else structs.replace(thing, status=status)
            case Queue():
                in_use = dict(self._allocated[thing.metadata.name])
                if in_use == thing.status.allocated:
                    return thing
                return structs.replace(thing, status=structs.replace(thing.status, allocated=in_use))
            case Pod():
                return self._told_pod(thing)
            case _:
                return thing

    def _told_pod(self, pod: Pod) -> Pod:
        key, uid = _key(pod), pod.metadata.uid
        waits, bind = self._told.get(key), self._history.binds.get(key)
        if waits is not None and waits.uid == uid:
            since = rfc3339(self._waiting.get(key, self._now))
            why = Condition(PLACED, "False", waits.reason, waits.message, since)
            return structs.replace(pod, status=_with(pod.status, why, waits.nominated))
        if bind is not None and bind.uid == uid:
            placed = Condition(PLACED, "True", last_transition_time=rfc3339(self._bound[key]))
            return structs.replace(pod, status=_with(pod.status, placed, ""))
        return pod


def _since_when(history: History) -> tuple[dict[str, int], dict[str, int]]:
    """When each pod was bound, and since when each has been told to wait."""
    bound: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for now, result in history.log:
        for effect in result.effects:
            if isinstance(effect, Bind):
                bound[effect.pod] = now
                waiting.pop(effect.pod, None)
        for verdict in result.verdicts:
            for pod in verdict.pods:
                waiting.setdefault(pod.pod, now)
    return bound, waiting


def _with(status: PodStatus, condition: Condition, nominated: str) -> PodStatus:
    """A status with a condition in place of the one of its type; its time stays unless it turned."""
    before = next((each for each in status.conditions if each.type == condition.type), None)
    if before is not None and before.status == condition.status:
        condition = structs.replace(condition, last_transition_time=before.last_transition_time)
    others = tuple(each for each in status.conditions if each.type != condition.type)
    return structs.replace(status, conditions=(*others, condition), nominated_node_name=nominated)


def _as_served(thing: KubeObject) -> KubeObject:
    """An API server has no pod without a phase."""
    if isinstance(thing, Pod) and not thing.status.phase:
        return structs.replace(thing, status=structs.replace(thing.status, phase="Pending"))
    return thing


def _key(thing: KubeObject) -> str:
    return f"{thing.metadata.namespace}/{thing.metadata.name}"


def _natural_order(identity: Identity) -> tuple[object, ...]:
    group, kind, namespace, name = identity
    return kind, group, natural(namespace), natural(name)
