"""`posse explain`: why one gang waits, and what would make it start."""

from typing import Any

import click
import msgspec

from posse.cli.flags import Flags, scenario_flags
from posse.cli.naming import Workload, gang_meant
from posse.cli.output import Format, output_flag, write, write_record
from posse.cli.progress import Progress
from posse.cli.running import CalledGangs, Outcome, run_to_the_end
from posse.simulation.explaining import explanation_of
from posse.simulation.report.overview import warnings
from posse.simulation.report.why import in_full


@click.command
@click.argument("name")
@scenario_flags
@output_flag
def command(name: str, output: Format, **given: Any) -> None:
    """Say why NAME waits, and what would make it start.

    NAME is a gang, a job, a workload or a pod, with or without its namespace: train, team-a/train, Deployment/web,
    train-worker-3. Of a workload whose pods are no gang, the first that waits is explained.
    """
    with Progress() as progress:
        run = run_to_the_end(Flags(**given).scenario(progress), progress)
        called = CalledGangs(run)
        meant = gang_meant(name, run, called.keys())
        gang, workload = meant.gang, meant.workload
        progress.explaining()
        outcome = Outcome(run, explanation_of(run, gang))
    if output == "text":
        if workload is not None:
            write(_spoken_for(workload))
        write(*in_full(called.plain(gang), outcome.readable), *warnings(outcome.readable))
        return
    record = outcome.record["gangs"][called.exact(gang)]
    of = {} if workload is None else {"workload": msgspec.to_builtins(workload)}
    write_record({"gang": called.exact(gang), **of, **(record["explanation"] or {})}, output)


def _spoken_for(workload: Workload) -> str:
    """How many pods of a workload wait, before one of them is explained."""
    if not workload.waiting:
        return f"{workload.name}: none of its {workload.pods} pods waits; this is the first of them.\n"
    waits = "waits" if workload.waiting == 1 else "wait"
    return f"{workload.name}: {workload.waiting} of its {workload.pods} pods {waits}; this is the first that does.\n"
