"""`posse simulate`: a cluster of files in, what would become of it out; one run, two to compare, or a batch."""

import sys
from typing import Any

import click

from posse.cli.flags import Flags, scenario_flags, with_configuration
from posse.cli.output import Format, output_flag, rows_that_fit, write, write_record
from posse.cli.progress import Progress
from posse.cli.running import Outcome, run_to_the_end, unexplained, warm_up
from posse.simulation.batch import answer_lines
from posse.simulation.comparison import compared
from posse.simulation.explaining import explanations
from posse.simulation.gang_state import has_started, is_wanted
from posse.simulation.report.differences import differences
from posse.simulation.report.moments import timeline_of
from posse.simulation.report.names import readable, short_names
from posse.simulation.report.overview import overview
from posse.simulation.result import Record

UNMET = 1
ONE_RUN = "-f, --steps, --compare, --events or --require-all"


@click.command
@scenario_flags
@click.option("--events", is_flag=True, help="Show what happened, cycle by cycle.")
@click.option("--compare", metavar="FILE", help="Run again under this configuration, and show what differs.")
@click.option("--batch", is_flag=True, help="Read one scenario per line of stdin (JSON), write one result per line.")
@click.option("--objects", is_flag=True, help="Add to the result what controllers made or changed.")
@click.option("--metrics", is_flag=True, help="Add to the result the metrics as they stand at the end.")
@click.option("--require-all", is_flag=True, help="Exit with 1 if a gang has not started in the end.")
@output_flag
def command(
    *,
    events: bool,
    compare: str | None,
    batch: bool,
    objects: bool,
    metrics: bool,
    require_all: bool,
    output: Format,
    **given: Any,
) -> None:
    """Schedule what manifests describe, and show what would happen.

    Nothing but files is needed: nodes, queues and workloads as YAML or JSON, by hand or from `kubectl get -o yaml`.
    """
    flags = Flags(**given)
    if batch:
        if flags.files or flags.steps or compare or events or require_all:
            raise click.UsageError(f"--batch reads whole scenarios from stdin, without {ONE_RUN}.")
        _answer(flags, objects=objects, metrics=metrics)
        return
    if compare and require_all:
        raise click.UsageError("--require-all is about one run, --compare about two.")
    with Progress() as progress:
        scenario = flags.scenario(progress, objects=objects, metrics=metrics)
        run = run_to_the_end(scenario, progress)
        if compare:
            other = run_to_the_end(with_configuration(scenario, compare), progress)
            names = (flags.config or "the default", compare)
            _compare(Outcome(run, unexplained), Outcome(other, unexplained), names, output)
            return
        progress.explaining()
        outcome = Outcome(run, explanations(run))
    _show(outcome, output, events=events)
    if require_all and not _all_started(outcome.record):
        raise click.exceptions.Exit(UNMET)


def _answer(flags: Flags, *, objects: bool, metrics: bool) -> None:
    """Answer scenarios line by line, each as soon as it is known."""
    with Progress() as progress:
        warm_up(progress)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    for answer in answer_lines(stdin, flags.defaults(objects=objects, metrics=metrics)):
        stdout.write(answer)
        stdout.flush()


def _show(outcome: Outcome, output: Format, *, events: bool) -> None:
    if output != "text":
        write_record(outcome.record, output)
        return
    moments = timeline_of(outcome.moments()) if events else ()
    write(*overview(outcome.readable, rows_that_fit()), *moments)


def _compare(one: Outcome, other: Outcome, names: tuple[str, str], output: Format) -> None:
    comparison = compared(one.side(), other.side())
    if output == "text":
        write(*differences(readable(comparison, short_names(comparison["gangs"])), names))
    else:
        write_record(comparison, output)


def _all_started(record: Record) -> bool:
    return all(has_started(gang) for gang in record["gangs"].values() if is_wanted(gang))
