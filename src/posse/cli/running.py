"""Running a scenario for a verb: the run, its record, and how the one is made from the other."""

from msgspec import Struct

from posse.cli.progress import Progress
from posse.simulation.result import Record, result_of
from posse.simulation.run import Run
from posse.simulation.scenario import Scenario


class Outcome(Struct, frozen=True):
    """A run that is over, and what programs are told of it."""

    run: Run
    record: Record


def run_to_the_end(scenario: Scenario, progress: Progress) -> Outcome:
    """Run a scenario as long as its options say."""
    run = Run(scenario)
    run.to_the_end(progress.cycle)
    return Outcome(run, result_of(run, lambda _: None))
