"""A scenario: everything one run is made from, as values.

Command line and batch lines both end here: manifests, a configuration text, and what to run and for how long.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta as Bounds
from msgspec import Struct, field, structs

from posse.errors import InputError, Place
from posse.kube.manifests import Manifest, from_values
from posse.kube.meta import instant
from posse.scheduler.configuration import DEFAULT_CONF
from posse.scheduler.switches import Side

MAX_CYCLES = 10_000
EPOCH = instant("2026-01-01T00:00:00Z")
"""Where the clock starts when nothing in the input says what time it is."""


AtLeastOne = Annotated[int, Bounds(ge=1)]
NotNegative = Annotated[int, Bounds(ge=0)]


class Reference(Struct, frozen=True):
    """An object by its name."""

    kind: str
    name: str
    namespace: str = ""


class Step(Struct, frozen=True):
    """What changes from outside after a cycle."""

    after_cycle: int
    apply: tuple[Manifest, ...] = ()
    delete: tuple[Reference, ...] = ()


class Options(Struct, frozen=True, kw_only=True):
    """How a scenario is run, and what its result is to hold.

    Without `cycles` it runs until nothing is due any more, or until `until`.
    """

    cycles: int | None = None
    until: int | None = None
    max_cycles: int = MAX_CYCLES
    seed: int = 0
    now: int | None = None
    mode: Side | None = None
    scheduler_names: tuple[str, ...] | None = None
    objects_out: bool = False
    metrics_out: bool = False
    what_if_runs: int | None = None


class Scenario(Struct, frozen=True):
    """One run."""

    manifests: tuple[Manifest, ...]
    configuration: str = DEFAULT_CONF
    configuration_file: str = ""
    steps: tuple[Step, ...] = ()
    options: Options = field(default_factory=Options)
    remarks: tuple[str, ...] = ()
    """What to warn of that was found while reading."""


class StepLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A step as it is written."""

    after_cycle: NotNegative
    apply: list[dict[str, Any]] = []
    delete: list[Reference] = []


class BatchLine(Struct, frozen=True, rename="camel", kw_only=True):
    """A scenario as a line of JSON. A line may carry more, for whoever wrote it; a misspelled field is refused."""

    id: str
    objects: list[dict[str, Any]]
    conf: str | None = None
    cycles: AtLeastOne | None = None
    seed: int | None = None
    now: str | None = None
    compatibility: Side | None = None
    scheduler_names: list[str] | None = None
    steps: list[StepLine] = []
    objects_out: bool | None = field(default=None, name="objects_out")
    metrics_out: bool | None = field(default=None, name="metrics_out")
    what_if_runs: NotNegative | None = field(default=None, name="what_if_runs")


NOTHING_SAID = Scenario(())
"""What a batch line is completed from where no flag says otherwise."""


def of_batch_line(line: BatchLine, defaults: Scenario) -> Scenario:
    """The scenario of a batch line; the options and the configuration that it leaves out, the flags say."""
    given: Mapping[str, object] = {
        "cycles": line.cycles,
        "seed": line.seed,
        "now": None if line.now is None else moment(line.now, "now"),
        "mode": line.compatibility,
        "scheduler_names": None if line.scheduler_names is None else tuple(line.scheduler_names),
        "objects_out": line.objects_out,
        "metrics_out": line.metrics_out,
        "what_if_runs": line.what_if_runs,
    }
    stated = structs.asdict(defaults.options)
    options = Options(**{**stated, **{name: value for name, value in given.items() if value is not None}})
    return Scenario(
        manifests=tuple(from_values(line.objects, Place())),
        configuration=defaults.configuration if line.conf is None else line.conf,
        configuration_file=defaults.configuration_file if line.conf is None else "",
        steps=steps_of(line.steps, ""),
        options=options,
    )


def steps_of(lines: list[StepLine], file: str) -> tuple[Step, ...]:
    """Steps as they are written, read."""
    return tuple(
        Step(line.after_cycle, tuple(from_values(line.apply, Place(file=file))), tuple(line.delete)) for line in lines
    )


def moment(text: str, where: str) -> int:
    """Read an instant that somebody typed."""
    try:
        return instant(text)
    except ValueError:
        place = Place(object="the scenario", field=where)
        raise InputError(
            f"{text!r} is no time", place=place, accepted="RFC 3339, such as 2026-01-31T12:00:00Z"
        ) from None
