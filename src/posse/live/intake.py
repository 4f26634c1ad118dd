"""The intake: what watches tell becomes what a cycle decides from.

    records of all watched kinds ──put──▶ translator ──▶ observations ─┐
    what binding reports ──────────report─────────────▶ outcomes ──────┴──take──▶ CycleInput

Nothing is decided before every kind has been listed once. An object that cannot be made sense of stays what it was when
it last could, and is remembered with the reason, until it changes. The default queue is there whether or not anybody
declares it.
"""

import asyncio
from collections.abc import Collection

from posse.cluster.facts import Observation, QueueFact
from posse.cluster.records import CycleInput, Outcome
from posse.dialects.translator import Translator
from posse.errors import InputError
from posse.kube.api.records import Record, Seen, Synced, Unreadable, Vanished
from posse.kube.meta import KubeObject
from posse.kube.objects import Queue

DEFAULT_QUEUE = "default"
Name = tuple[str, str, str]
"""Kind, namespace, name."""


class Intake:
    """Collects what is for the next cycle."""

    def __init__(self, translator: Translator, kinds: Collection[type[KubeObject]]) -> None:
        self._translator = translator
        self._unsynced = set(kinds)
        self._observations: list[Observation] = [_assumed_queue()]
        self._outcomes: list[Outcome] = []
        self.woken = asyncio.Event()
        """Set when there is something for a cycle to look at."""
        self.unreadable: dict[Name, str] = {}
        """Objects that make no sense, and why."""

    @property
    def is_synced(self) -> bool:
        """Whether all that there was has been told."""
        return not self._unsynced

    def put(self, record: Record) -> None:
        """Take in what a watch tells."""
        match record:
            case Seen(object=thing):
                self._see(thing)
            case Vanished(kind=kind, namespace=namespace, name=name, uid=uid):
                self.unreadable.pop((kind.KIND, namespace, name), None)
                self._observations += self._translator.remove(kind.KIND, namespace, name, uid)
                if kind is Queue and name == DEFAULT_QUEUE:
                    self._observations.append(_assumed_queue())
            case Unreadable(kind=kind, namespace=namespace, name=name, why=why):
                self.unreadable[kind.KIND, namespace, name] = why
            case Synced(kind=kind):
                self._unsynced.discard(kind)
        if self.is_synced:
            self.woken.set()

    def report(self, outcome: Outcome) -> None:
        """Take in what came of a bind or an eviction."""
        self._outcomes.append(outcome)
        self.woken.set()

    def take(self, now: int) -> CycleInput:
        """Give what has come in since this was last asked."""
        self.woken.clear()
        observations, outcomes = tuple(self._observations), tuple(self._outcomes)
        self._observations, self._outcomes = [], []
        return CycleInput(now, observations, outcomes)

    def _see(self, thing: KubeObject) -> None:
        name = (thing.kind_name, thing.metadata.namespace, thing.metadata.name)
        try:
            self._observations += self._translator.put(thing)
        except InputError as fault:
            self.unreadable[name] = str(fault)
        else:
            self.unreadable.pop(name, None)


def _assumed_queue() -> QueueFact:
    return QueueFact(key=DEFAULT_QUEUE, name=DEFAULT_QUEUE)
