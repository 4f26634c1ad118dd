"""The overview of a run: what a person wants to know of it, the most important first."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from posse.simulation.gang_state import has_started, is_wanted
from posse.simulation.report.gangs import gangs
from posse.simulation.report.layout import heading, point
from posse.simulation.report.nodes import nodes
from posse.simulation.report.queues import queues
from posse.simulation.report.why import waiting
from posse.simulation.report.words import counted, span
from posse.simulation.result import Record


def overview(record: Record, limit: int | None = None) -> Iterator[RenderableType]:
    """All of a result; with a limit, so many gangs at most in each list."""
    yield headline(record)
    yield from gangs(record, limit)
    yield from queues(record)
    yield from nodes(record)
    yield from waiting(record, limit)
    yield from remarks(record)


def headline(record: Record) -> Text:
    """A run in two lines: what came of it, and how long it took."""
    present = [gang for gang in record["gangs"].values() if is_wanted(gang)]
    started = sum(map(has_started, present))
    parts = [
        f"{started} of {counted(len(present), 'gang')} started" if present else "no gangs",
        f"{counted(len(record['binds']), 'pod')} bound",
    ]
    if record["evictions"]:
        parts.append(f"{counted(len(record['evictions']), 'eviction')}")
    rest = "at rest" if record["fixpoint"] else "still moving"
    time = f"{counted(record['cycles'], 'cycle')}, {span(record['time'])} simulated, {rest}"
    return Text.assemble((", ".join(parts), "bold"), (f"\n{time}", "dim"))


def remarks(record: Record) -> Iterator[RenderableType]:
    """What the reader should know besides: warnings, and kinds that mean nothing to the scheduler."""
    yield from warnings(record)
    if record["ignored"]:
        kinds = ", ".join(f"{kind} ×{count}" if count > 1 else kind for kind, count in record["ignored"].items())
        yield heading("IGNORED")
        yield Text(kinds, style="dim")


def warnings(record: Record) -> Iterator[RenderableType]:
    """What may not be as the reader thinks."""
    if record["warnings"]:
        yield heading("WARNINGS")
        for warning in record["warnings"]:
            yield point("!", "yellow", warning)
