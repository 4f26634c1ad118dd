"""Reports: what a cycle found, said on the objects that it concerns.

    verdicts ──▶ what each object should say ──if it does not say so already──▶ patches, a few at a time

Nobody waits for this. What an object should say is kept by object, so a gang that changes faster than it can be told
is told how it stands last. What was said is remembered until a watch shows something else, so nothing is written twice.
A gang that has no object (a pod that names none) is told through its pod alone.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct, structs

from posse.cluster.records import CycleResult
from posse.cluster.verdict import PodVerdict, QueueVerdict, Verdict
from posse.dialects import volcano_status
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.client import ApiClient, Patch
from posse.kube.api.credentials import CredentialError
from posse.kube.api.events import EventRecorder, Reference
from posse.kube.api.records import Record, Seen, Vanished
from posse.kube.api.resources import resource_of
from posse.kube.meta import rfc3339
from posse.kube.objects import Pod, PodGroup, PodGroupStatus, Queue, QueueStatus
from posse.kube.quantity import format_amounts

AT_ONCE = 4
"""Patches under way at the most: binds have the server first."""
NOT_FOUND = 404
SCHEDULED = "PodScheduled"


class PodWord(Struct, frozen=True):
    """What a waiting pod says of itself."""

    reason: str = ""
    message: str = ""
    nominated: str = ""
    since: str = ""
    """When it began to wait."""


class Wish(Struct):
    """What an object should say, not yet written."""

    path: str
    body: bytes
    form: Patch


class Reports:
    """Says verdicts on PodGroups, pods and queues."""

    def __init__(self, client: ApiClient, events: EventRecorder) -> None:
        self._client, self._events = client, events
        self._groups: dict[tuple[str, str], tuple[str, PodGroupStatus]] = {}
        """By namespace and name: the uid of a PodGroup, and the status it has or is about to have."""
        self._pods: dict[str, PodWord] = {}
        """By uid, what pods say that wait, or are about to say."""
        self._nominated: set[str] = set()
        """Pods (their uids) that we have nominated to a node. What others have nominated is theirs to take back."""
        self._queues: dict[str, tuple[str, QueueStatus]] = {}
        """By name: the uid of a Queue, and the status it has or is about to have."""
        self._wishes: dict[str, Wish] = {}
        self._woken = asyncio.Event()
        self.failures = 0
        """How many patches were refused."""

    # ------------------------------------------------------------------ what objects say already

    def put(self, record: Record) -> None:
        """Learn what objects say."""
        match record:
            case Seen(object=PodGroup() as group):
                self._groups[group.metadata.namespace, group.metadata.name] = (group.metadata.uid, group.status)
            case Seen(object=Pod() as pod):
                self._learn(pod)
            case Seen(object=Queue() as queue):
                self._queues[queue.metadata.name] = (queue.metadata.uid, queue.status)
            case Vanished(kind=kind, namespace=namespace, name=name, uid=uid):
                if kind is PodGroup:
                    self._groups.pop((namespace, name), None)
                elif kind is Queue:
                    self._queues.pop(name, None)
                self._forget(uid)

    def _learn(self, pod: Pod) -> None:
        if pod.spec.node_name:
            self._forget(pod.metadata.uid)
            return
        said = next((each for each in pod.status.conditions if each.type == SCHEDULED), None)
        if said is not None:
            word = PodWord(said.reason, said.message, pod.status.nominated_node_name, said.last_transition_time)
            self._pods[pod.metadata.uid] = word

    def _forget(self, pod: str) -> None:
        self._pods.pop(pod, None)
        self._nominated.discard(pod)

    # ------------------------------------------------------------------ what they should say

    def __call__(self, now: int, result: CycleResult) -> None:
        """Take in what a cycle found."""
        for verdict in result.verdicts:
            self._say_of_group(verdict, now)
            for pod in verdict.pods:
                self._say_of_pod(pod, now)
        for queue in result.queues:
            self._say_of_queue(queue)
        if self._wishes:
            self._woken.set()

    def _say_of_group(self, verdict: Verdict, now: int) -> None:
        namespace, _, name = verdict.gang.partition("/")
        uid, before = self._groups.get((namespace, name), ("", PodGroupStatus()))
        if uid != verdict.uid or not uid:
            return
        after = volcano_status.status_of(before, verdict, now)
        if after == before:
            return
        self._groups[namespace, name] = (uid, after)
        self._wish(resource_of(PodGroup).path(namespace, name), uid, {"status": _status(after)}, Patch.MERGE)
        event = volcano_status.event_of(before, after, verdict)
        if event is not None:
            about = Reference(PodGroup.API_VERSION, PodGroup.KIND, name, namespace, uid)
            self._events.tell(about, event.reason, event.message, type=event.type)

    def _say_of_pod(self, verdict: PodVerdict, now: int) -> None:
        before = self._pods.get(verdict.uid)
        stands = before.nominated if before is not None and verdict.uid not in self._nominated else ""
        since = rfc3339(now) if before is None else before.since
        word = PodWord(verdict.reason, verdict.message, verdict.nominated or stands, since)
        if word == before:
            return
        self._pods[verdict.uid] = word
        namespace, _, name = verdict.pod.partition("/")
        condition = {"type": SCHEDULED, "status": "False", "reason": word.reason, "message": word.message}
        if since:
            condition["lastTransitionTime"] = since
        status: dict[str, Any] = {"conditions": [condition]}
        if verdict.nominated:
            self._nominated.add(verdict.uid)
        if verdict.uid in self._nominated:
            status["nominatedNodeName"] = verdict.nominated
        self._wish(resource_of(Pod).path(namespace, name), verdict.uid, {"status": status}, Patch.STRATEGIC)
        if before is None or before.reason != word.reason:
            about = Reference(Pod.API_VERSION, Pod.KIND, name, namespace, verdict.uid)
            self._events.tell(about, "FailedScheduling", word.message, type="Warning")

    def _say_of_queue(self, verdict: QueueVerdict) -> None:
        """What a queue has; whether it is open is said by whoever closes queues."""
        uid, before = self._queues.get(verdict.queue, ("", QueueStatus()))
        allocated = format_amounts(verdict.allocated)
        after = structs.replace(before, allocated=allocated, state=before.state or "Open")
        if not uid or after == before:
            return
        self._queues[verdict.queue] = (uid, after)
        gone = dict.fromkeys(before.allocated)  # in a patch, nothing takes a key away but null
        status = {"state": after.state, "allocated": {**gone, **allocated}}
        self._wish(resource_of(Queue).path(name=verdict.queue), uid, {"status": status}, Patch.MERGE)

    def _wish(self, path: str, uid: str, body: dict[str, Any], form: Patch) -> None:
        """Have something written; a uid makes sure that it is still the same object."""
        text = msgspec.json.encode({"metadata": {"uid": uid}, **body})
        self._wishes[path] = Wish(path, text, form)

    # ------------------------------------------------------------------ writing

    async def run(self) -> None:
        """Write what there is to write, for ever."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(self._write_all())

    async def _write_all(self) -> None:
        while True:
            await self._woken.wait()
            if not self._wishes:
                self._woken.clear()
                continue
            wish = self._wishes.pop(next(iter(self._wishes)))
            await self._write(wish, ("/status", ""))

    async def _write(self, wish: Wish, places: Iterable[str]) -> None:
        """Write a status where it belongs; kinds without a part for it have it in the object itself."""
        for place in places:
            try:
                await self._client.patch(wish.path + place, wish.body, wish.form, repeat=True)
            except ApiError as refusal:
                if refusal.status != NOT_FOUND:
                    self.failures += 1
                    return
            except (LostError, CredentialError):
                self.failures += 1
                return
            else:
                return


def _status(status: PodGroupStatus) -> dict[str, Any]:
    """A whole status: in a patch what is left out stays as it was."""
    conditions: list[dict[str, Any]] = msgspec.to_builtins(status.conditions)
    counts = {"running": status.running, "succeeded": status.succeeded, "failed": status.failed}
    return {"phase": status.phase, "conditions": conditions, **counts}
