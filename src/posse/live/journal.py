"""The journal: whatever happens is told to it once, and it writes a line of the log and counts it.

It says things once. A watch that is interrupted is one line until it goes on, however often it is tried; an object that
makes no sense is one line until it makes sense, or another kind of none; binds that are refused with the same words are
one line for all of a cycle. So nobody who may create pods can fill a disk with them.
"""

from collections import Counter
from collections.abc import Iterable

from posse.cluster.records import Bind, Bound, CycleResult, Evict, Kept, Outcome, Refused, TimedOut
from posse.kube.api.client import LONGEST_WAIT
from posse.kube.api.credentials import Clock
from posse.live.figures import Figures
from posse.live.intake import Name
from posse.live.log import Log
from posse.scheduler.engine import Engine

MOST_REASONS = 20
"""Different refusals that are told of one cycle."""


class Journal:
    """Writes down what happens to one scheduler."""

    def __init__(self, log: Log, figures: Figures, engine: Engine, seconds: Clock, *, dry_run: bool = False) -> None:
        self._log, self._figures, self._engine, self._seconds = log, figures, engine, seconds
        self._placed = "gang would be placed" if dry_run else "gang placed"
        self._evicted = "gang would be let go" if dry_run else "gang let go"
        self._born, self._is_ending = seconds(), False
        self._result = CycleResult(0)
        self._setbacks: dict[tuple[str, str], list[str]] = {}
        """Pods by what came of their bind or eviction, and why."""
        self._interrupted: dict[str, float] = {}
        """What is interrupted, and when it was last tried in vain."""

    def ready(self, counts: dict[str, int]) -> None:
        """Learn that all that there is has been listed, and how many objects of each kind."""
        took = round(self._seconds() - self._born, 3)
        self._log.info("ready: all kinds are listed", seconds=took, **counts)

    # ------------------------------------------------------------------ cycles

    def cycle(self, now: int, result: CycleResult) -> None:
        """Learn what a cycle decided."""
        del now
        self._result = result
        self._figures.learn(result, self._engine.world)

    def beat(self, seconds: float) -> None:
        """Learn that a cycle is over, and how long it took."""
        self._figures.cycles.observe(seconds)
        self._tell_of_setbacks()
        binds = [effect for effect in self._result.effects if isinstance(effect, Bind)]
        evictions = [effect for effect in self._result.effects if isinstance(effect, Evict)]
        for gang, pods in Counter(bind.gang for bind in binds).items():
            self._log.info(self._placed, gang=gang, queue=self._queue_of(gang), pods=pods)
        self._tell_of_evictions(evictions)
        if binds or evictions:
            counts = {"binds": len(binds), "evictions": len(evictions)}
            self._log.info("cycle", cycle=self._result.cycle, ms=round(seconds * 1000, 1), **counts)
        self._result = CycleResult(0)

    def bound(self, gang: str, seconds: float) -> None:
        """Learn that a gang has got its minimum."""
        self._figures.waits.observe(seconds)
        self._log.debug("gang bound", gang=gang, queue=self._queue_of(gang), waited=round(seconds, 3))

    def outcome(self, outcome: Outcome) -> None:
        """Learn what came of a bind or an eviction."""
        match outcome:
            case Bound():
                self._figures.outcomes["bound"] += 1
            case Refused():
                self._set_back("refused", "bind refused", outcome)
            case TimedOut():
                self._set_back("timed-out", "bind timed out", outcome)
            case Kept():
                self._set_back("kept", "eviction refused", outcome)

    def end(self) -> None:
        """Say what nobody will hear of otherwise. From now on it is no matter that we do not lead."""
        self._tell_of_setbacks()
        self._is_ending = True

    def _set_back(self, kind: str, message: str, outcome: Refused | TimedOut | Kept) -> None:
        self._figures.outcomes[kind] += 1
        self._setbacks.setdefault((message, outcome.reason), []).append(outcome.pod)

    def _tell_of_setbacks(self) -> None:
        told = list(self._setbacks.items())
        for (message, reason), pods in told[:MOST_REASONS]:
            self._log.warning(message, pod=pods[0], pods=len(pods), reason=reason)
        if len(told) > MOST_REASONS:
            self._log.warning("more was refused", reasons=len(told) - MOST_REASONS)
        self._setbacks.clear()

    def _tell_of_evictions(self, evictions: Iterable[Evict]) -> None:
        by_gang: dict[tuple[str, str, str], int] = Counter((it.by, it.action, it.reason) for it in evictions)
        for (gang, action, reason), pods in by_gang.items():
            message = self._evicted if action == "repair" else "pods evicted"
            self._log.warning(message, gang=gang, queue=self._queue_of(gang), pods=pods, action=action, reason=reason)

    def _queue_of(self, gang: str) -> str:
        gangs = self._engine.world.gangs
        row = gangs.find(gang)
        fact = gangs.facts[row] if row >= 0 else None
        return "" if fact is None else fact.queue

    # ------------------------------------------------------------------ the API server

    def interrupted(self, kind: str, why: str) -> None:
        """Learn that a watch hears nothing."""
        if self._breaks_off(f"watch of {kind}", why):
            self._figures.interruptions[kind] += 1

    def heard(self, kind: str) -> None:
        """Learn that a watch has been told something."""
        if self._interrupted:
            self._goes_on(f"watch of {kind}")

    def lease_unsure(self, why: str) -> None:
        """Learn that the lease could not be read or written."""
        self._breaks_off("lease", why)

    def leads(self, is_leader: bool) -> None:
        """Learn that we lead, or no longer do."""
        if is_leader:
            self._goes_on("lease")
            self._log.info("leading")
        elif self._is_ending:
            self._log.info("lease given back")
        else:
            self._log.warning("no longer leading")

    def tick(self) -> None:
        """See who goes on: what had no trouble for longer than it would have waited, though it may have had no news."""
        now = self._seconds()
        for what in [what for what, tried in self._interrupted.items() if now - tried > 2 * LONGEST_WAIT]:
            self._goes_on(what)

    def _breaks_off(self, what: str, why: str) -> bool:
        """Whether this is new, and not one more attempt in vain."""
        is_new = what not in self._interrupted
        self._interrupted[what] = self._seconds()
        if is_new:
            self._log.warning("interrupted", what=what, why=why)
        return is_new

    def _goes_on(self, what: str) -> None:
        if self._interrupted.pop(what, None) is not None:
            self._log.info("goes on", what=what)

    def unreadable(self, name: Name, before: str, after: str) -> None:
        """Learn why an object makes no sense, before and now; empty if it does."""
        kind, namespace, called = name
        fields = {"kind": kind, "name": f"{namespace}/{called}" if namespace else called}
        if after and after != before:
            self._log.warning("object makes no sense", **fields, why=after)
        elif before and not after:
            self._log.info("object makes sense again", **fields)
