"""The engine: a world, a configuration, and the cycle that turns inputs into effects.

    observations, outcomes ──▶ world ──▶ promises ──▶ actions × plugins ──▶ verdicts, effects

A cycle is a pure function of the world, the configuration and its input: it awaits nothing, opens nothing and reads no
clock. So where nothing has moved since the actions last ran in vain, they would run in vain again, and are left out.
Plugins are built once per configuration and live as long as it. `fork` gives an engine that would decide the same from
here on, and leaves this one alone.
"""

import copy
from collections.abc import Iterable, Mapping

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from posse.cluster.audit import ContradictionError, audit, overdrawn
from posse.cluster.observed import status_of
from posse.cluster.records import (
    Bind,
    Bound,
    CycleInput,
    CycleResult,
    Effect,
    Kept,
    Outcome,
    Refused,
    TimedOut,
)
from posse.cluster.status import Status
from posse.cluster.verdict import QueueVerdict, Verdict
from posse.cluster.views import Gang
from posse.cluster.world import World
from posse.errors import InputError
from posse.scheduler.blame import blamed
from posse.scheduler.claims import Book, Claims, Held
from posse.scheduler.closing import Closing
from posse.scheduler.configuration import Configuration, PluginOption
from posse.scheduler.hopeless import Hopeless
from posse.scheduler.placement.choice import Chooser
from posse.scheduler.placement.feasibility import Feasibility
from posse.scheduler.placement.filler import Filler
from posse.scheduler.placement.scoring import Scoring
from posse.scheduler.plugin import Setup
from posse.scheduler.promises import Forgetful, Lasting, PromiseKeeper
from posse.scheduler.reasons import Reasons
from posse.scheduler.registry import Registry
from posse.scheduler.repairs import ARGUMENTS as REPAIR
from posse.scheduler.repairs import Repairs
from posse.scheduler.session import Session
from posse.scheduler.standstill import Standstill
from posse.scheduler.tiers import Seat, Tiers
from posse.scheduler.words import VolcanoWords, WordsForAutoscalers


class Engine:
    """Decides, cycle by cycle."""

    def __init__(
        self,
        world: World,
        configuration: Configuration,
        registry: Registry,
        books: Mapping[str, Book] | None = None,
        *,
        heals: bool = False,
        checks: bool = False,
    ) -> None:
        self.world, self.registry, self.books = world, registry, dict(books or {})
        self._heals, self._checks = heals, checks
        self.cycles = 0
        self._seen = -1
        self._held: dict[int, Held] = {}
        """What is reserved in the books, by task row; it outlives a configuration."""
        self.configure(configuration)

    def configure(self, configuration: Configuration) -> None:
        """Put a configuration in force. The world stays; plugins begin anew."""
        self.configuration = configuration
        compatibility = configuration.compatibility
        self.reasons = Reasons()
        self.claims = Claims(self.world, self.books, self._held)
        self.tiers = Tiers([[self._seat(option) for option in tier] for tier in configuration.tiers])
        self._repairs = Repairs(self.world, configuration.setting("repair", REPAIR), heals=self._heals)
        self.forget()
        feasibility = Feasibility(self.world, self.tiers, self.reasons, self.claims)
        scoring = Scoring(self.world, self.tiers)
        self._chooser = Chooser(feasibility, scoring)
        self._filler = Filler(self.world, self.tiers, feasibility, scoring, self.claims)
        self._actions = [
            self.registry.actions[name](configuration.arguments_for(name), configuration.actions)
            for name in configuration.actions
        ]
        forgets = compatibility.side("pipelined-life") == "upstream"
        self._promises: PromiseKeeper = Forgetful() if forgets else Lasting()
        takes = self._promises.can_be_taken
        self._hopeless = Hopeless(self.world, self.tiers, self._filler, promised_too=takes)
        words = VolcanoWords() if compatibility.side("waiting-words") == "upstream" else WordsForAutoscalers()
        self._closing = Closing(words, keeps_admission=compatibility.side("running-gang-admission") == "posse")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the author of the configuration should hear of."""
        return (*self.configuration.warnings, *(word for plugin in self.tiers.plugins for word in plugin.warnings))

    def _seat(self, option: PluginOption) -> Seat:
        hierarchy = "hierarchy" in option.flags
        setup = Setup(self.world, option.arguments, self.configuration.compatibility, self.reasons, hierarchy)
        try:
            return Seat(self.registry.build(option.name, setup), option.flags)
        except InputError:
            raise
        except (Exception, SystemExit) as fault:
            place = structs.replace(option.place, object=f"plugin {option.name}")
            raise InputError(f"cannot be built: {type(fault).__name__}: {fault}", place=place) from fault

    # ------------------------------------------------------------------ the cycle

    def cycle(self, given: CycleInput, *, tell: bool = True) -> CycleResult:
        """Take in what happened, decide, and say what to do. Who need not be told why leaves the verdicts out."""
        self.take_in(given)
        promised = set(self.world.promises)
        self.cycles += 1
        session = self._begin(given.now, tells=tell)
        if not (stands := self._standstill.holds(session)):
            self._standstill.begin()
            self._act(session)
        verdicts, queues = self._close(session, tell=tell)
        if not stands:
            self._standstill.end(session)
        if self._checks:
            self._check(session.effects, promised)
        return CycleResult(self.cycles, tuple(session.effects), verdicts, queues)

    def _begin(self, now: int, *, tells: bool) -> Session:
        """Redeem the promises whose room has come, and let plugins look at how things stand."""
        session = self.open(now, tells=tells)
        self._promises.open(session)
        self._repairs.open(session)
        for plugin in self.tiers.plugins:
            plugin.on_open(session)
        return session

    def _act(self, session: Session) -> None:
        for action in self._actions:
            try:
                action.run(session)
            except Exception as fault:
                blame = blamed(fault, self.tiers.plugins)
                if blame is fault:
                    raise
                raise blame from fault

    def open(self, now: int, *, tells: bool = True) -> Session:
        """Open a session on the world as it stands."""
        return Session(
            self.world,
            self.configuration,
            self.tiers,
            self._chooser,
            self._filler,
            self.claims,
            self.reasons,
            self._hopeless,
            fresh=self._fresh(),
            takes_promises=self._promises.can_be_taken,
            tells=tells,
            now=now,
            cycle=self.cycles,
        )

    def forget(self) -> None:
        """Look at every gang in the next cycle as if it were new, so that all are told how they stand then."""
        self._seen = -1
        self._standstill = Standstill(self.world, self.tiers, self.claims, self._repairs)

    def _fresh(self) -> NDArray[np.bool_]:
        """[G] which gangs changed since the last cycle closed."""
        fresh: NDArray[np.bool_] = self.world.columns.ledger.gang_touched[: len(self.world.gangs)] > self._seen
        return fresh

    def take_in(self, given: CycleInput) -> None:
        """Learn what happened, and decide nothing."""
        for outcome in given.outcomes:
            self._learn(outcome)
        self.world.observe(given.observations)
        self.claims.sweep()

    def _learn(self, outcome: Outcome) -> None:
        """What came of a bind, or of an eviction.

        Only the pod that was meant is concerned, and only while what was decided about it is thought to be on its way.
        """
        world = self.world
        row = world.tasks.find(outcome.pod)
        fact = world.tasks.facts[row] if row >= 0 else None
        if fact is None or fact.uid != outcome.uid:
            return
        match outcome, Status(world.columns.ledger.task_status[row]):
            case Bound(node=node), Status.BINDING:
                world.move([row], [Status.BOUND], [world.node_row(node)])
            case Refused(reason=reason) | TimedOut(reason=reason), Status.BINDING:
                if not isinstance(outcome, Refused) or outcome.tried:
                    self._repairs.refused(int(world.columns.ledger.task_gang[row]), reason)
                self.tiers.deallocated(np.array([row], np.int32))
                self.claims.give_back([row])
                world.move([row], [Status.PENDING], [-1])
            case Kept(), Status.RELEASING if not fact.terminating:
                world.move([row], [status_of(fact)], [world.node_row(fact.node)])
                self.tiers.allocated(np.array([row], np.int32))

    def _close(self, session: Session, *, tell: bool) -> tuple[tuple[Verdict, ...], tuple[QueueVerdict, ...]]:
        for plugin in self.tiers.plugins:
            plugin.on_close(session)
        self._promises.settle(session)
        gangs = [Gang(self.world, row) for row in self._concerned(session)]
        verdicts: tuple[Verdict, ...] = ()
        queues: tuple[QueueVerdict, ...] = ()
        if tell:
            verdicts = tuple(self._closing.verdict(session, gang) for gang in gangs)
            queues = self._closing.queues(session)
        else:
            for gang in gangs:
                self._closing.settle(session, gang)
        self._promises.close(session)
        self._repairs.close(session)
        return verdicts, queues

    def _concerned(self, session: Session) -> list[int]:
        """Declared gangs that changed since the last cycle closed, or of which this one found something."""
        columns, facts = self.world.columns, self.world.gangs.facts
        changed = np.flatnonzero(self._fresh()).tolist()
        self._seen = int(columns.ledger.moment[0])
        queues = self.world.queues.facts
        return sorted(
            (
                row
                for row in {*changed, *session.notes}
                if facts[row] is not None and queues[columns.ledger.gang_queue[row]] is not None
            ),
            key=self.world.gangs.keys.__getitem__,
        )

    def _check(self, effects: Iterable[Effect], promised: set[int]) -> None:
        """Hold the model against itself, and what was decided against what there was."""
        world = self.world
        bound = [world.tasks.find(effect.pod) for effect in effects if isinstance(effect, Bind)]
        faults = [*audit(world), *overdrawn(world, [*bound, *sorted(set(world.promises) - promised)])]
        if faults:
            raise ContradictionError(faults)

    # ------------------------------------------------------------------ what is known

    def promises(self) -> list[tuple[int, int]]:
        """Pipelined tasks (their rows) and since when they have had their promise."""
        return sorted(self.world.promises.items())

    def deadline_of(self, task: int) -> int | None:
        """When the promise of a task ends by itself, if it does."""
        return self._promises.deadline(self.world, task)

    def next_deadline(self) -> int | None:
        """When something will change by itself: a promise ends, or a plugin's answer."""
        deadlines = [self.deadline_of(task) for task in self.world.promises]
        deadlines += [plugin.wake_at() for plugin in self.tiers.plugins]
        deadlines.append(self._repairs.next_due())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def state(self, now: int) -> int:
        """A number for how everything stands, timers relative to now; names and the rows that things happen to have do
        not count.
        """
        world, ledger = self.world, self.world.columns.ledger
        tasks = sorted(
            (
                world.gangs.keys[ledger.task_gang[row]] if ledger.task_gang[row] >= 0 else "",
                int(ledger.task_status[row]),
                world.nodes.keys[ledger.task_node[row]] if ledger.task_node[row] >= 0 else "",
            )
            for row in world.tasks.declared()
        )
        phases = sorted(
            (world.gangs.keys[row], int(world.columns.traits.gang_phase[row])) for row in world.gangs.declared()
        )
        waits = sorted(now - since for since in world.promises.values())
        efforts = sorted(
            (world.gangs.keys[row], now - effort.since, now - effort.rests_until, effort.failures)
            for row, effort in world.efforts.items()
        )
        return hash((tuple(tasks), tuple(phases), tuple(waits), tuple(efforts)))

    # ------------------------------------------------------------------ copies

    def fork(self, spare: World | None = None) -> "Engine":
        """An engine on a copy of the world that would decide the same from here on.

        The copy may take the columns of a world that is no longer used.
        """
        books, held = copy.deepcopy((self.books, self._held))
        other = Engine(
            self.world.fork(spare), self.configuration, self.registry, books, heals=self._heals, checks=self._checks
        )
        other._held.update(held)
        other.cycles, other._seen = self.cycles, self._seen
        for mine, theirs in zip(self.tiers.plugins, other.tiers.plugins, strict=True):
            theirs.state = copy.deepcopy(mine.state)
        return other
