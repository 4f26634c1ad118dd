"""`posse explain`: why one gang waits, and what would make it start."""

from typing import Any

import click

from posse.cli.flags import Flags, scenario_flags
from posse.cli.naming import gang_meant
from posse.cli.output import Format, output_flag, write, write_record
from posse.cli.progress import Progress
from posse.cli.running import CalledGangs, Outcome, run_to_the_end
from posse.simulation.explaining import explanation_of
from posse.simulation.report.why import in_full


@click.command
@click.argument("name")
@scenario_flags
@output_flag
def command(name: str, output: Format, **given: Any) -> None:
    """Say why NAME waits, and what would make it start.

    NAME is a gang, a job, a workload or a pod, with or without its namespace: train, team-a/train, Deployment/web,
    train-worker-3.
    """
    with Progress() as progress:
        run = run_to_the_end(Flags(**given).scenario(progress), progress)
        called = CalledGangs(run)
        gang = gang_meant(name, run, called.keys())
        progress.explaining()
        outcome = Outcome(run, explanation_of(run, gang))
    if output == "text":
        write(*in_full(called.plain(gang), outcome.readable))
        return
    record = outcome.record["gangs"][called.exact(gang)]
    write_record({"gang": called.exact(gang), **(record["explanation"] or {})}, output)
