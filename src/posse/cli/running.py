"""Running a scenario for a verb: the run, what programs are told of it, and what people are."""

import os
from functools import cached_property

from posse.cli.progress import Progress
from posse.cluster.compiled import NOT_KEPT, is_cold
from posse.scheduler.warming import warm
from posse.simulation.comparison import Side
from posse.simulation.gang_names import GangNames
from posse.simulation.report.names import readable, short_names
from posse.simulation.result import Explain, Record, result_of
from posse.simulation.run import Run
from posse.simulation.scenario import Scenario
from posse.simulation.timeline import Moment, timeline
from posse.simulation.unclaimed import unclaimed

CHECK = "POSSE_CHECK"
"""Set to 1 in the environment: after every cycle, add up every sum of the model again, and stop if one is wrong."""


def warm_up(progress: Progress) -> None:
    """Compile the kernels, if nobody did so on this machine yet, and say so: it takes some seconds, once."""
    if NOT_KEPT:
        progress.say_once(
            f"Warning: compiled kernels cannot be kept ({NOT_KEPT}), so every start takes some seconds more.\n"
            "  Set NUMBA_CACHE_DIR to a folder that can be written to."
        )
    if is_cold():
        progress.working("compiling the kernels" if NOT_KEPT else "compiling the kernels, once on this machine")
        warm()


def run_to_the_end(scenario: Scenario, progress: Progress) -> Run:
    """Run a scenario as long as its options say."""
    run = Run(scenario, checks=os.environ.get(CHECK) == "1")
    warm_up(progress)
    run.to_the_end(progress.cycle)
    return run


def unexplained(gang: str) -> None:
    """Explain nothing: for whoever looks at decisions only."""
    del gang


class CalledGangs:
    """What the gangs of a run are called, by programs and by people."""

    def __init__(self, run: Run) -> None:
        self._names = GangNames(run.engine.world)
        declared = [fact.key for fact in run.engine.world.gangs.facts if fact is not None]
        self._keys = [*declared, *(gang.key for gang in unclaimed(run.engine.world))]
        self.short = short_names(map(self.exact, self._keys))

    def exact(self, key: str) -> str:
        """The name that programs know a gang by."""
        return self._names.shown(key)

    def plain(self, key: str) -> str:
        """The name that people know a gang by."""
        return self.short.get(self.exact(key), self.exact(key))

    def keys(self) -> dict[str, str]:
        """The key of each gang, by all names it has."""
        return {self.exact(key): key for key in self._keys} | {self.plain(key): key for key in self._keys}


class Outcome:
    """A run that is over, told."""

    def __init__(self, run: Run, explain: Explain) -> None:
        self.run = run
        self.called = CalledGangs(run)
        self.record: Record = result_of(run, explain)

    @cached_property
    def readable(self) -> Record:
        """The record with the names that people use."""
        record: Record = readable(self.record, self.called.short)
        return record

    def moments(self) -> list[Moment]:
        """What happened, cycle by cycle, with the names that people use."""
        return timeline(self.run.history.log, self.run.start, self.called.plain)[0]

    def side(self) -> Side:
        """The run as one side of a comparison."""
        return Side(self.record, timeline(self.run.history.log, self.run.start, self.called.exact)[1])
