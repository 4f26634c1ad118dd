"""The tally: what cycles have come to so far, a fold over their results.

    cycle result ──learn──▶ binds, evictions, findings, and of each gang the verdict that stands

A verdict stands until the gang's next one. So how often a gang was looked at in vain follows from when its verdicts
came, and a scheduler that passes over gangs of which nothing moved comes to the same figures as one that tries them all
again: nothing is counted up cycle by cycle. What is kept of gangs that are gone is let go of as it grows, and never
shown.
"""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from posse.cluster.facts import GangFact
from posse.cluster.records import Bind, CycleResult, Evict
from posse.cluster.verdict import Verdict
from posse.cluster.world import World


class Found(Struct, frozen=True):
    """The verdict that stands on a gang, and in how many cycles before it the gang had been looked at in vain."""

    verdict: Verdict
    retries: int = 0


class GangFigures(Struct, frozen=True):
    """A gang that is there, the verdict that stands on it, and in how many cycles it was looked at in vain."""

    gang: GangFact
    verdict: Verdict
    retries: int


class Tally:
    """What cycles have come to. Figures of one process: they begin with it."""

    def __init__(self) -> None:
        self.cycles = self.binds = 0
        self.refusals = 0
        """How often a pod began to wait."""
        self.evictions: Counter[str] = Counter()
        """By the action that wanted them."""
        self._gangs: dict[str, Found] = {}

    def learn(self, result: CycleResult, world: World) -> None:
        """Take in what a cycle decided."""
        self.cycles = result.cycle
        for effect in result.effects:
            match effect:
                case Bind():
                    self.binds += 1
                case Evict():
                    self.evictions[effect.action] += 1
        for verdict in result.verdicts:
            self._replace(verdict)
        if len(self._gangs) > 2 * len(world.gangs):
            self._gangs = {gang.key: self._gangs[gang.key] for gang in self._living(world)}

    def gangs(self, world: World) -> Iterator[GangFigures]:
        """The gangs that cycles look at, by key."""
        for gang in self._living(world):
            found = self._gangs[gang.key]
            retries = found.retries + _retries(found.verdict, self.cycles + 1)
            yield GangFigures(gang, found.verdict, retries)

    def _replace(self, verdict: Verdict) -> None:
        before = self._gangs.get(verdict.gang)
        is_same = before is not None and before.verdict.uid == verdict.uid
        retries = before.retries + _retries(before.verdict, verdict.cycle) if before is not None and is_same else 0
        waited = _waiting(before.verdict) if before is not None and is_same else frozenset()
        self.refusals += len(_waiting(verdict) - waited)
        self._gangs[verdict.gang] = Found(verdict, retries)

    def _living(self, world: World) -> Iterator[GangFact]:
        queues = world.queues
        for row in world.gangs.declared():
            gang = world.gangs.facts[row]
            found = self._gangs.get(gang.key) if gang is not None else None
            if gang is None or found is None or found.verdict.uid != gang.uid:
                continue
            queue = queues.find(gang.queue)
            if queue >= 0 and queues.facts[queue] is not None:
                yield gang


def is_short(verdict: Verdict) -> bool:
    """Whether a gang that has members lacked its minimum."""
    return bool(verdict.members) and not verdict.was_ready


def _waiting(verdict: Verdict) -> frozenset[str]:
    """The pods that were told to wait and were not promised a node, by uid."""
    return frozenset(pod.uid for pod in verdict.pods if not pod.promised)


def _retries(verdict: Verdict, until: int) -> int:
    """In how many cycles a gang was looked at in vain while a verdict stood, up to a cycle that is not counted."""
    return until - verdict.cycle if is_short(verdict) else 0
