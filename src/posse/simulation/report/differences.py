"""A comparison of two runs as text: first what it comes to, then each gang, queue and eviction that differs."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from posse.simulation.report.layout import heading, percent, state, table
from posse.simulation.report.words import counted, listed, span
from posse.simulation.result import Record

FIRST, SECOND = "A", "B"
FIGURES = (("gangs started", "started"), ("pods bound", "bound"), ("evictions", "evicted"), ("cycles", "cycles"))


def differences(comparison: Record, names: tuple[str, str]) -> Iterator[RenderableType]:
    """What differs between run A and run B; `names` are their configurations."""
    yield from _summary(comparison, names)
    yield from _gangs(comparison["gangs"])
    yield from _queues(comparison["queues"])
    yield from _evictions(comparison["evictions"])
    if _is_alike(comparison):
        yield Text("\nBoth decide the same.", style="bold")


def _is_alike(comparison: Record) -> bool:
    parts = (comparison["gangs"], comparison["queues"], *comparison["evictions"].values(), *comparison["pods"].values())
    return not any(parts)


def _summary(comparison: Record, names: tuple[str, str]) -> Iterator[RenderableType]:
    for letter, name in zip((FIRST, SECOND), names, strict=True):
        yield Text.assemble((letter, "bold"), f"  {name}")
    left, right = comparison["runs"]
    yield heading("IN TOTAL")
    rows = table("", FIRST, SECOND, numbers={FIRST, SECOND})
    for label, key in FIGURES:
        rows.add_row(label, f"{left[key]:,}", f"{right[key]:,}")
    rows.add_row("time simulated", span(left["time"]), span(right["time"]))
    yield rows
    if moved := comparison["pods"]["other_node"]:
        yield Text(f"{counted(moved, 'pod')} bound in both, to other nodes", style="dim")


def _gangs(gangs: Mapping[str, Any]) -> Iterator[RenderableType]:
    if not gangs:
        return
    yield heading("GANGS")
    rows = table("gang", "queue", f"{FIRST} starts", f"{SECOND} starts", f"{FIRST} ends", f"{SECOND} ends", "")
    for name, gang in gangs.items():
        starts, ends = gang["start"], gang["state"]
        rows.add_row(
            name, gang["queue"], *map(_start, starts), *(state(each or "-") for each in ends), _verdict(*starts)
        )
    yield rows


def _start(time: float | None) -> str:
    return "never" if time is None else f"at {span(time)}"


def _verdict(one: float | None, other: float | None) -> Text:
    """What B does to a gang."""
    if one == other:
        return Text()
    if other is None:
        return Text("does not start", style="red")
    if one is None:
        return Text("starts", style="green")
    if other < one:
        return Text(f"{span(one - other)} earlier", style="green")
    return Text(f"{span(other - one)} later", style="yellow")


def _queues(queues: Mapping[str, Any]) -> Iterator[RenderableType]:
    shown = {name: figures for name, figures in queues.items() if name != "root"}
    if not shown:
        return
    yield heading("QUEUES")
    rows = table("queue", "", FIRST, SECOND)
    for name, figures in shown.items():
        for label, (left, right) in figures.items():
            rows.add_row(name, label, _figure(left), _figure(right))
            name = ""  # noqa: PLW2901 - said once
    yield rows


def _figure(value: Any) -> str:
    match value:
        case None:
            return "-"
        case dict():
            return listed(value)
        case int() | float():
            return percent(value)
        case _:
            return str(value)


def _evictions(evictions: Mapping[str, list[dict[str, str]]]) -> Iterator[RenderableType]:
    for letter, key in ((FIRST, "only_first"), (SECOND, "only_second")):
        if evictions[key]:
            yield heading(f"EVICTED ONLY IN {letter}")
            rows = table("pod", "for", "by")
            for each in evictions[key]:
                rows.add_row(each["pod"], each["by"], each["action"])
            yield rows
