"""Why a gang waits and what would help: the explanation in sentences, short for an overview or in full for one gang."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from posse.kube.quantity import is_bytes
from posse.simulation.gang_state import has_started, is_wanted, state_of
from posse.simulation.report.layout import heading, point, state, table
from posse.simulation.report.words import MIB, counted, places, said, short, some
from posse.simulation.result import Record

INDENT = 2
CLAUSE_NUMBERS = ("nodes that have it", "and all above")


def waiting(record: Record, limit: int | None = None) -> Iterator[RenderableType]:
    """Why each gang that waits does; with a limit, so many at most."""
    names = [name for name, gang in record["gangs"].items() if is_wanted(gang) and not has_started(gang)]
    if not names:
        return
    yield heading("WHY THEY WAIT" if len(names) > 1 else "WHY IT WAITS")
    alike = list(_alike(names, record))
    shown = alike if limit is None else alike[:limit]
    for group in shown:
        yield from in_short(group[0], record, others=len(group) - 1)
    if len(shown) < len(alike):
        left = sum(map(len, alike[limit:]))
        yield f"and {counted(left, 'more gang')}; posse explain NAME says why one waits"


def _alike(names: list[str], record: Record) -> Iterable[list[str]]:
    """Gangs of one queue together that wait for the same, in the same words."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        gang = record["gangs"][name]
        explanation = gang["explanation"] or {"blockers": [], "remedies": []}
        words = [each["message"] for part in ("blockers", "remedies") for each in explanation[part]]
        groups.setdefault((gang["queue"], _summary(gang), *words), []).append(name)
    return groups.values()


def in_short(name: str, record: Record, others: int = 0) -> Iterator[RenderableType]:
    """A gang's summary, what blocks it, and what else would help; `others` of its queue wait for the same."""
    gang = record["gangs"][name]
    explanation = gang["explanation"]
    more = f"; {others:,} more like it" if others else ""
    yield Text.assemble((name, "bold"), (f" ({gang['queue']}{more})", "dim"), f" {_summary(gang)}")
    if explanation is not None:
        yield from (point("·", "yellow", _blocker(each), INDENT) for each in explanation["blockers"])
        besides = [each for each in explanation["remedies"] if each["message"] not in explanation["summary"]]
        yield from (point("→", "green", _remedy(each), INDENT) for each in besides)
        yield from (point("→", "cyan", each, INDENT) for each in _expected(explanation))


def in_full(name: str, record: Record) -> Iterator[RenderableType]:
    """All that is known of why a gang stands as it does."""
    gang = record["gangs"][name]
    explanation = gang["explanation"]
    yield Text.assemble((name, "bold"), f" {_summary(gang)}")
    of = max(gang["ready"], gang["members"]) if has_started(gang) else gang["min"]
    ready = f"{gang['ready']} of {counted(of, 'pod')} ready"
    differs = f", its minimum is {gang['min']}" if has_started(gang) else f", {counted(gang['members'], 'member')}"
    members = differs if gang["members"] != gang["min"] else ""
    where = f", on {places(gang['nodes'])}" if gang["nodes"] else ""
    numbers = f": {ready}{members}{where}; queue {gang['queue']}, {gang['dialect']}"
    yield Text.assemble(state(state_of(gang)), (numbers, "dim"))
    if explanation is not None:
        yield from _blocked(explanation)
        yield from _helped(explanation)
        yield from _placed(explanation)


def _blocked(explanation: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Each blocker, with every requirement of the pod that it is about."""
    if not explanation["blockers"]:
        return
    yield heading("WHAT BLOCKS IT")
    for blocker in explanation["blockers"]:
        yield point("·", "yellow", _blocker(blocker))
        if blocker["clauses"]:
            rows = table("the pod requires", *CLAUSE_NUMBERS, numbers=set(CLAUSE_NUMBERS))
            for clause in blocker["clauses"]:
                rows.add_row(clause["clause"], str(clause["alone"]), str(clause["so_far"]))
            yield Padding(rows, (0, 0, 0, INDENT))


def _helped(explanation: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Each remedy, with what it changes."""
    if explanation["remedies"]:
        yield heading("WHAT WOULD HELP")
        for remedy in explanation["remedies"]:
            yield point("→", "green", _remedy(remedy))
            for change in _changes(remedy):
                yield Padding(Text(change, style="dim"), (0, 0, 0, INDENT))
        yield Text("-o yaml gives the manifests.", style="dim")
    if explanation["searched"] == "cut":
        yield Text("There may be more: the what-if runs are used up (--what-if-runs allows more).", style="dim")


def _placed(explanation: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Its place in line, when it may start, and what it lost."""
    lines = []
    if position := explanation["position"]:
        lines.append(f"Place {position['queue']} of {position['of']} in the line of its queue.")
    lines += _expected(explanation)
    if lost := explanation["last_eviction"]:
        why = f": {lost['reason']}" if lost["reason"] else ""
        lines.append(f"Last lost a member at {lost['time']}, to {lost['by']} by {lost['action']}{why}.")
    if lines:
        yield heading("ITS PLACE")
        yield from lines


def _expected(explanation: Mapping[str, Any]) -> list[str]:
    """When it starts if nothing is changed, as far as that is known."""
    estimate = explanation["estimate"]
    known = estimate is not None and estimate["start"] is not None
    return [f"Expected to start at {estimate['start']}, by {estimate['basis']}."] if known else []


def _summary(gang: Record) -> str:
    """The explanation's sentence, of which the gang is the subject; without one, what the gang's conditions say."""
    if gang["explanation"] is not None:
        return str(gang["explanation"]["summary"])
    told = [each["message"] for each in gang["conditions"] if each["type"] != "Scheduled" and each["message"]]
    return f"waits: {told[-1]}" if told else f"has {gang['ready']} of {counted(gang['min'], 'pod')} ready"


def _blocker(blocker: Mapping[str, Any]) -> Text:
    text = Text.assemble((f"{blocker['kind']}: ", "yellow"), str(blocker["message"]))
    if blocker["need"] is not None:
        have, need = (_number(blocker["unit"], blocker[key]) for key in ("have", "need"))
        unit = short(blocker["unit"])
        text.append(f" ({have} of {need} {unit.removesuffix('s') if need == '1' else unit})", style="dim")
    reasons = {reason: count for reason, count in blocker["nodes"].items() if reason not in blocker["message"]}
    if reasons:
        most_first = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
        text.append(
            "\n" + "\n".join(f"{counted(count, 'node')}: {reason}" for reason, count in most_first), style="dim"
        )
    return text


def _number(unit: str, number: float | None) -> str:
    return "?" if number is None else said(unit, number) if is_bytes(unit) and number >= MIB else f"{number:g}"


def _remedy(remedy: Mapping[str, Any]) -> Text:
    proof = "" if remedy["verified"] else " (not tried)"
    return Text.assemble(str(remedy["message"]), (proof, "dim"))


def _changes(remedy: Mapping[str, Any]) -> Iterator[str]:
    """What is applied and removed, kind by kind."""
    applied = [(each["kind"], each.get("metadata", {})) for each in remedy["patch"]]
    removed = [(each["kind"], each) for each in remedy["remove"]]
    for verb, things in (("apply", applied), ("remove", removed)):
        kinds: dict[str, list[str]] = {}
        for kind, meta in things:
            kinds.setdefault(kind, []).append("/".join(filter(None, (meta.get("namespace"), meta.get("name")))))
        yield from (f"{verb} {kind} {some(names)}" for kind, names in kinds.items())
