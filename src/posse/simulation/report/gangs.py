"""The gangs of a result as a table: how each stands, and where its pods are.

Pods that belong to nothing are gangs of one. A few of them are listed like any gang; many are counted, or they would
bury the rest.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from rich.console import RenderableType

from posse.simulation.gang_state import has_started, is_single, is_wanted, state_of
from posse.simulation.report.layout import heading, state, table
from posse.simulation.report.words import counted, places
from posse.simulation.result import Record

FEW = 10
"""So many single pods are listed."""
FEW_NODES, NAMED = 4, 2
"""So many nodes are named; of more than these, so many."""


def gangs(record: Record, limit: int | None = None) -> Iterator[RenderableType]:
    """The table of gangs; with a limit, so many rows at most, and a line that says what is missing."""
    listed, singles = _apart(record["gangs"])
    if not listed and not singles:
        return
    yield heading("GANGS")
    rows = table("gang", "queue", "state", "min", "ready", "pods", "nodes", numbers={"min", "ready", "pods"})
    shown = _shortened(listed, limit)
    for name, gang in shown.items():
        numbers = (str(gang["min"]), str(gang["ready"]), str(gang["members"]))
        rows.add_row(name, gang["queue"], state(state_of(gang)), *numbers, _where(gang))
    for (queue, stands), count in sorted(singles.items()):
        ready = count if stands in ("running", "placed", "finished") else 0
        rows.add_row("(single pods)", queue, state(stands), "1", str(ready), str(count), "")
    yield rows
    if len(shown) < len(listed):
        yield f"and {counted(len(listed) - len(shown), 'more gang')}; -o json lists them all"


def _apart(every: Mapping[str, Record]) -> tuple[dict[str, Record], Counter[tuple[str, str]]]:
    """The gangs to list, and how many single pods there are besides, by queue and state."""
    lone = {name for name, gang in every.items() if is_single(gang)}
    if len(lone) <= FEW:
        return dict(every), Counter()
    singles = Counter((str(every[name]["queue"]), state_of(every[name])) for name in lone)
    return {name: gang for name, gang in every.items() if name not in lone}, singles


def _shortened(listed: dict[str, Record], limit: int | None) -> dict[str, Record]:
    """As many as the limit allows: those that wait before those that run."""
    if limit is None or len(listed) <= limit:
        return listed
    waiting_first = sorted(listed, key=lambda name: has_started(listed[name]) or not is_wanted(listed[name]))
    kept = set(waiting_first[:limit])
    return {name: gang for name, gang in listed.items() if name in kept}


def _where(gang: Record) -> str:
    nodes: dict[str, int] = gang["nodes"]
    if len(nodes) > FEW_NODES:
        first = dict(list(nodes.items())[:NAMED])
        return f"{places(first)} and {len(nodes) - NAMED} more"
    return places(nodes)
