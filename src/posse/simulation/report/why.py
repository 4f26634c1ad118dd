"""Why a gang waits and what would help: the explanation record in sentences, short for an overview or in full for one gang."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from posse.simulation.report.layout import heading, state
from posse.simulation.gang_state import has_started, state_of
from posse.simulation.report.words import counted
from posse.simulation.result import Record

INDENT = 2


def waiting(record: Record, limit: int | None = None) -> Iterator[RenderableType]:
    """Why each gang that waits does; with a limit, so many at most."""
    names = [name for name, gang in record["gangs"].items() if gang["members"] and not has_started(gang)]
    if not names:
        return
    yield heading("WHY THEY WAIT" if len(names) > 1 else "WHY IT WAITS")
    shown = names if limit is None else names[:limit]
    for name in shown:
        yield from in_short(name, record)
    if len(shown) < len(names):
        yield f"and {counted(len(names) - len(shown), 'more gang')}; posse explain NAME says why one waits"


def in_short(name: str, record: Record) -> Iterator[RenderableType]:
    """A gang's summary, what blocks it, and what would help."""
    gang = record["gangs"][name]
    explanation = gang["explanation"]
    yield Text.assemble((name, "bold"), f" ({gang['queue']}): ", _summary(gang, record))
    if explanation is not None:
        for blocker in explanation["blockers"]:
            yield from _indented(_blocker(blocker))
        for remedy in explanation["remedies"]:
            yield from _indented(_remedy(remedy))


def in_full(name: str, record: Record) -> Iterator[RenderableType]:
    """All that is known of why a gang stands as it does."""
    gang = record["gangs"][name]
    explanation = gang["explanation"]
    numbers = f"{gang['ready']} of {counted(gang['min'], 'pod')} ready, {counted(gang['members'], 'member')}"
    yield Text.assemble((name, "bold"), " is ", state(state_of(gang)), f" ({numbers}), queue {gang['queue']}, {gang['dialect']}")
    yield from _indented(Text(_summary(gang, record)))
    if explanation is None:
        return
    if explanation["blockers"]:
        yield heading("WHAT BLOCKS IT")
        for blocker in explanation["blockers"]:
            yield _blocker(blocker)
            for clause in blocker.get("clauses", ()):
                yield from _indented(_clause(clause))
    yield from _help(explanation)
    yield from _line(explanation)


def _help(explanation: Mapping[str, Any]) -> Iterator[RenderableType]:
    if explanation["remedies"]:
        yield heading("WHAT WOULD HELP")
        for remedy in explanation["remedies"]:
            yield _remedy(remedy)
            for change in _changes(remedy):
                yield from _indented(Text(change, style="dim"))
    if explanation["searched"] == "cut":
        yield Text("There may be more: the what-if runs were used up (--what-if-runs allows more).", style="dim")


def _line(explanation: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Its place in line, when it may start, and what it lost."""
    lines = []
    if position := explanation["position"]:
        lines.append(f"Place {position['queue']} of {position['of']} in its queue.")
    estimate = explanation["estimate"]
    if estimate and estimate["start"]:
        lines.append(f"Expected to start at {estimate['start']}, by {estimate['basis']}.")
    if lost := explanation["last_eviction"]:
        why = f": {lost['reason']}" if lost["reason"] else ""
        lines.append(f"Last lost a member at {lost['time']}, to {lost['by']} by {lost['action']}{why}.")
    if lines:
        yield heading("ITS PLACE")
        yield from lines


def _summary(gang: Record, record: Record) -> str:
    """The explanation's sentence; without one, what the gang's conditions say."""
    if gang["explanation"] is not None:
        return str(gang["explanation"]["summary"])
    said = [condition["message"] or condition["reason"] for condition in gang["conditions"] if condition["type"] != "Scheduled"]
    return said[-1] if said else f"{gang['ready']} of {counted(gang['min'], 'pod')} have a node"


def _blocker(blocker: Mapping[str, Any]) -> Text:
    text = Text.assemble(("· ", "yellow"), (f"{blocker['kind']}: ", "yellow"), str(blocker["message"]))
    if blocker.get("need") is not None:
        text.append(f" ({blocker['have']} of {blocker['need']} {blocker['unit']})")
    if reasons := blocker.get("nodes"):
        told = "; ".join(f"{count} {reason}" for reason, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0])))
        text.append(f"\n  nodes: {told}", style="dim")
    return text


def _clause(clause: Mapping[str, Any]) -> Text:
    passes = f"{counted(clause['alone'], 'node')} by itself, {clause['so_far']} with all before it"
    return Text.assemble(str(clause["clause"]), (f"  {passes}", "dim"))


def _remedy(remedy: Mapping[str, Any]) -> Text:
    proof = "" if remedy["verified"] else " (not tried)"
    return Text.assemble(("→ ", "green"), str(remedy["message"]), (proof, "dim"))


def _changes(remedy: Mapping[str, Any]) -> Iterator[str]:
    for manifest in remedy["patch"]:
        yield f"apply {_named(manifest['kind'], manifest.get('metadata', {}))}"
    for reference in remedy["remove"]:
        yield f"remove {_named(reference['kind'], reference)}"


def _named(kind: str, meta: Mapping[str, Any]) -> str:
    space = meta.get("namespace")
    return f"{kind} {space}/{meta.get('name', '')}" if space else f"{kind} {meta.get('name', '')}"


def _indented(text: Text) -> Iterator[RenderableType]:
    yield Padding(text, (0, 0, 0, INDENT))
