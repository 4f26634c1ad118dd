"""The flags that say what to run: from the command line to a `Scenario`, for every verb that runs one."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from msgspec import Struct, structs

from posse.cli.progress import Progress
from posse.errors import InputError, Place
from posse.kube import manifests
from posse.kube.yaml_text import documents
from posse.scheduler.conf_scalars import duration
from posse.scheduler.switches import Side
from posse.simulation.scenario import MAX_CYCLES, Options, Scenario, Step, StepLine, moment, steps_of

STEPS = "a list of {after_cycle: 2, apply: [manifest], delete: [{kind, namespace, name}]}"

Command = TypeVar("Command", bound=Callable[..., Any])

compatibility_flag = click.option(
    "--compatibility",
    type=click.Choice(["posse", "upstream"]),
    help="Which side to take where Posse and upstream differ.",
)

_COUNT = click.IntRange(min=1)
_OPTIONS = (
    click.option(
        "-f",
        "--file",
        "files",
        multiple=True,
        metavar="PATH",
        help="Manifests: a file, a folder, or - for stdin. Repeatable.",
    ),
    click.option("--config", metavar="FILE", help="The scheduler's configuration. [default: `posse config default`]"),
    compatibility_flag,
    click.option("--scheduler-names", metavar="A,B", help="Place only these schedulers' pods. [default: all pods]"),
    click.option("--cycles", type=_COUNT, metavar="N", help="Run exactly N cycles."),
    click.option("--until", metavar="DURATION", help="Run for so long, such as 90s or 2h. [default: to the end]"),
    click.option("--max-cycles", type=_COUNT, default=MAX_CYCLES, show_default=True, metavar="N", help="Give up then."),
    click.option("--steps", metavar="FILE", help="What changes on the way: a list of {after_cycle, apply, delete}."),
    click.option(
        "--seed", type=int, default=0, show_default=True, metavar="N", help="Breaks ties between equal nodes."
    ),
    click.option("--now", metavar="TIME", help="When the clock starts (RFC 3339). [default: the input's newest time]"),
    click.option("--what-if-runs", type=click.IntRange(min=0), metavar="N", help="Effort that explanations may take."),
)


def scenario_flags(command: Command) -> Command:
    """Give a verb the flags that say what to run."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Flags(Struct, frozen=True, kw_only=True):
    """What the flags said."""

    files: tuple[str, ...] = ()
    config: str | None = None
    compatibility: Side | None = None
    scheduler_names: str | None = None
    cycles: int | None = None
    until: str | None = None
    max_cycles: int = MAX_CYCLES
    steps: str | None = None
    seed: int = 0
    now: str | None = None
    what_if_runs: int | None = None

    def options(self, *, objects: bool = False, metrics: bool = False) -> Options:
        """How to run, and what to report."""
        if self.cycles is not None and self.until is not None:
            raise click.UsageError("--cycles and --until are two ways to say when to stop; give one.")
        return Options(
            cycles=self.cycles,
            until=None if self.until is None else _length(self.until),
            max_cycles=self.max_cycles,
            seed=self.seed,
            now=None if self.now is None else moment(self.now, "--now"),
            mode=self.compatibility,
            scheduler_names=None if self.scheduler_names is None else _names(self.scheduler_names),
            objects_out=objects,
            metrics_out=metrics,
            what_if_runs=self.what_if_runs,
        )

    def defaults(self, *, objects: bool, metrics: bool) -> Scenario:
        """A scenario without manifests: what batch lines are completed from."""
        options = self.options(objects=objects, metrics=metrics)
        plain = Scenario((), options=options)
        return plain if self.config is None else with_configuration(plain, self.config)

    def scenario(self, progress: Progress, *, objects: bool = False, metrics: bool = False) -> Scenario:
        """Read everything that the flags name."""
        if not self.files:
            raise click.UsageError("What is to be scheduled? Name manifests with -f: a file, a folder, or - for stdin.")
        defaults = self.defaults(objects=objects, metrics=metrics)
        steps = () if self.steps is None else read_steps(self.steps)
        skipped: list[str] = []
        read = tuple(manifests.read(self.files, progress.reading, sys.stdin.read, skipped.append))
        remarks = (f"skipped, no manifests: {', '.join(sorted(set(skipped)))}",) if skipped else ()
        return structs.replace(defaults, manifests=read, steps=steps, remarks=remarks)


def with_configuration(scenario: Scenario, file: str) -> Scenario:
    """The same scenario under another configuration."""
    return structs.replace(scenario, configuration=text_of(file), configuration_file=file)


def text_of(file: str) -> str:
    """Read a file that the command line names."""
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("is no text", place=Place(file=file), accepted="UTF-8") from None
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror}", place=Place(file=file)) from None


def read_steps(file: str) -> tuple[Step, ...]:
    """Read the steps that a file lists, in YAML or JSON."""
    lines = [line for _, _, value in documents(text_of(file).encode(), file) for line in _as_list(value)]
    try:
        return steps_of(msgspec.convert(lines, list[StepLine]), file)
    except msgspec.ValidationError as fault:
        message, _, path = str(fault).partition(" - at `$")
        place = Place(file=file, object="step", field=path.rstrip("`"))
        raise InputError(message, place=place, accepted=STEPS) from None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _length(text: str) -> int:
    length = duration(text)
    if length is None or length < 0:
        place = Place(field="--until")
        raise InputError(f"{text!r} is no length of time", place=place, accepted="a duration such as 90s or 1h30m")
    return length


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        place = Place(field="--scheduler-names")
        raise InputError("names nobody", place=place, accepted="names with commas between them")
    return names
