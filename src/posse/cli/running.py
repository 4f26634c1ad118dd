"""Running a scenario for a verb: the run, what programs are told of it, and its story."""

from msgspec import Struct

from posse.cli.progress import Progress
from posse.simulation.comparison import Side
from posse.simulation.gang_names import GangNames
from posse.simulation.result import Record, result_of
from posse.simulation.run import Run
from posse.simulation.scenario import Scenario
from posse.simulation.timeline import Moment, timeline


class Outcome(Struct, frozen=True):
    """A run that is over, and what programs are told of it."""

    run: Run
    record: Record


def run_to_the_end(scenario: Scenario, progress: Progress) -> Outcome:
    """Run a scenario as long as its options say."""
    run = Run(scenario)
    run.to_the_end(progress.cycle)
    return Outcome(run, result_of(run, lambda _: None))


def moments_of(outcome: Outcome) -> list[Moment]:
    """What happened in a run, cycle by cycle."""
    return _told(outcome.run)[0]


def side_of(outcome: Outcome) -> Side:
    """A run as one side of a comparison."""
    return Side(outcome.record, _told(outcome.run)[1])


def _told(run: Run) -> tuple[list[Moment], dict[str, float]]:
    return timeline(run.history.log, run.start, GangNames(run.engine.world))
