"""One run: a simulated cluster and an engine, cycle by cycle, under a clock that jumps.

    deliver what is due ──▶ one cycle ──▶ carry its effects out ──▶ move the clock

With a number of cycles the clock moves one schedule period at a time. Else, after a cycle that changed nothing and
left nothing to see, it goes straight to whatever is due next; the run ends when nothing is, when a state repeats, or
when a limit is reached.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache

from msgspec import structs

from posse.cluster.records import Bind, CycleInput, CycleResult
from posse.cluster.storage_facts import VOLUME_CLAIM
from posse.cluster.world import World, same
from posse.dialects.customs import Customs
from posse.kube.manifests import Manifest
from posse.scheduler.configuration import Configuration, load, packages_named_in
from posse.scheduler.engine import Engine
from posse.scheduler.registry import Registry, installed
from posse.scheduler.switches import Side
from posse.scheduler.volumes.book import VolumeBook
from posse.simulation.cluster import SimulatedCluster
from posse.simulation.history import History
from posse.simulation.scenario import EPOCH, Scenario
from posse.simulation.timestamps import newest

Name = tuple[str, str, str]
"""Kind, namespace (`default` if it has none), name."""
Observer = Callable[[int, CycleResult], None]
"""Told of each cycle as it closes: its time, and what it decided."""


def configure(scenario: Scenario) -> tuple[Configuration, Registry]:
    """Read a scenario's configuration, and find the plugins that it names."""
    return _configured(scenario.configuration, scenario.configuration_file, scenario.options.mode)


@lru_cache(maxsize=64)
def _configured(text: str, file: str, mode: Side | None) -> tuple[Configuration, Registry]:
    """The same text means the same for the life of a process, and a batch repeats it often."""
    registry = installed(packages_named_in(text, file=file), beside=file)
    specs, actions = registry.plugin_specs(), registry.action_specs()
    return load(text, registry=specs, actions=actions, file=file, mode=mode), registry


class Run:
    """A scenario while it runs, and what is known of it afterwards."""

    def __init__(self, scenario: Scenario, *, checks: bool = False) -> None:
        self.scenario, self.options = scenario, scenario.options
        self.configuration, registry = configure(scenario)
        self.start = self.options.now if self.options.now is not None else newest(scenario.manifests, EPOCH)
        self.now = self.now_at_end = self.start
        books = {VOLUME_CLAIM: VolumeBook(strict=False)}
        self.engine = Engine(World(self.options.seed), self.configuration, registry, books, checks=checks)
        customs = Customs.under(self.configuration.compatibility.side)
        self.cluster = SimulatedCluster(self.start, self.options.scheduler_names, customs)
        self.cluster.load(scenario.manifests)
        self.history = History()
        self.is_settled = False
        self.warnings = [*scenario.remarks, *self.engine.warnings]
        self._seen: set[int] = set()

    def to_the_end(self, observer: Observer | None = None) -> None:
        """Run as long as the options say."""
        while not self._is_over():
            result = self.cycle()
            if observer is not None:
                observer(self.now, result)
            if not self._move_clock(result):
                break
        if self.options.cycles is None and self.engine.cycles:
            self._tell_all()

    def _tell_all(self) -> None:
        """Let every gang be told how it stands at the end. Those that sleep were last told when they fell asleep."""
        told = self.engine.fork()
        told.forget()
        result = told.cycle(CycleInput(self.now_at_end))
        self.history.retell(result, self.now_at_end)

    def cycle(self, *, tell: bool = True) -> CycleResult:
        """Run one cycle."""
        self.now_at_end = self.now
        if self.engine.cycles + 1 == self.options.cycles:
            self.engine.forget()
        self._take_steps()
        observations = self.cluster.deliver(self.now)
        result = self.engine.cycle(CycleInput(self.now, observations), tell=tell)
        for effect in result.effects:
            if isinstance(effect, Bind):
                self.cluster.bind(effect)
            else:
                self.cluster.evict(effect)
        self.history.record(result, self.now, self.engine.world.gang_of)
        return result

    def step(self) -> bool:
        """Run one cycle of which nobody is told, and move the clock. False if nothing moves and nothing is due."""
        before = self.engine.world.standing()
        result = self.cycle(tell=False)
        if result.effects or not self.cluster.is_quiet or not same(before, self.engine.world.standing()):
            self.now += self.configuration.schedule_period
            return True
        due = self._next_due()
        self.now = max(due or 0, self.now + 1)
        return due is not None

    @cached_property
    def given(self) -> dict[Name, Manifest]:
        """The objects of the input, steps included that have been taken. To be asked for when the run is over."""
        steps = (step for step in self.scenario.steps if step.after_cycle < self.engine.cycles)
        everything = [*self.scenario.manifests, *(manifest for step in steps for manifest in step.apply)]
        return {(each.kind, each.namespace or "default", each.name): each for each in everything if each.name}

    def _take_steps(self) -> None:
        for step in self.scenario.steps:
            if step.after_cycle == self.engine.cycles:
                self.cluster.apply(step.apply)
                for reference in step.delete:
                    self.cluster.delete(reference)

    # ------------------------------------------------------------------ the clock

    def _is_over(self) -> bool:
        done, options = self.engine.cycles, self.options
        if options.cycles is not None:
            return done >= options.cycles
        if options.until is not None and self.now - self.start > options.until:
            return True
        if done >= options.max_cycles:
            self.warnings.append(f"stopped after {done} cycles: the limit was reached before the cluster came to rest")
            return True
        return False

    def _move_clock(self, result: CycleResult) -> bool:
        """Go to the next cycle's time. False if there is none."""
        period = self.configuration.schedule_period
        if self.options.cycles is not None:
            self.is_settled = self._is_at_rest(result) and self.cluster.calendar.next is None
            self.now += period
            return True
        if not self._is_at_rest(result):
            if not self._steps_ahead() and self._repeats():
                self.warnings.append("stopped: the same state came again, and would for ever")
                return False
            self.now += period
            return True
        due = self._next_due()
        if due is None:
            self.is_settled = True
            return False
        self.now = max(due, self.now + 1)
        return True

    def _is_at_rest(self, result: CycleResult) -> bool:
        return (
            not result.effects and self.cluster.is_quiet and not self.history.changed_last and not self._steps_ahead()
        )

    def _steps_ahead(self) -> bool:
        return any(step.after_cycle >= self.engine.cycles for step in self.scenario.steps)

    def _next_due(self) -> int | None:
        times = [self.cluster.calendar.next, self.engine.next_deadline()]
        return min((time for time in times if time is not None), default=None)

    def _repeats(self) -> bool:
        """Whether everything stands as it stood before, timers relative."""
        state = hash((self.engine.state(self.now), tuple(self.cluster.calendar.ahead(self.now))))
        if state in self._seen:
            return True
        self._seen.add(state)
        return False

    # ------------------------------------------------------------------ copies

    def fork(self, *, stands_still: bool, spare: World | None = None) -> "Run":
        """A run that goes on from here to the fixpoint, without further steps; this one must rest while it is in use.

        In one that stands still nobody arrives and nobody ends. It may take the columns of a world out of use.
        """
        other = Run.__new__(Run)
        other.__dict__.update(self.__dict__)
        other.options = structs.replace(self.options, cycles=None, until=None)
        other.scenario = structs.replace(self.scenario, steps=())
        other.now = max(self.now, self.now_at_end + self.configuration.schedule_period)
        other.engine, other.cluster = self.engine.fork(spare), self.cluster.fork(stands_still=stands_still)
        other.history = History()
        other.warnings, other._seen = [], set()
        return other
