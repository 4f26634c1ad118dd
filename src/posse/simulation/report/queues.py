"""The queues of a result as a table: how much of its share each uses, and how much of what it may use."""

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from posse.simulation.report.layout import bar, heading, percent, table
from posse.simulation.report.words import BESIDES, listed, measured
from posse.simulation.result import Record

WIDTH = 16


def queues(record: Record) -> Iterator[RenderableType]:
    """The table of queues, without the root, the sum of all others, and without a `default` that nobody named."""
    named = {gang["queue"] for gang in record["gangs"].values()}
    shown = {
        name: queue
        for name, queue in record["queues"].items()
        if name != "root" and (name != "default" or name in named)
    }
    if not shown:
        return
    has_share = any(queue["share"] is not None for queue in shown.values())
    totals = _totals(record)
    yield heading("QUEUES")
    columns = ("of its share", "deserves") if has_share else ("of the cluster", "may use")
    rows = table("queue", columns[0], "uses", columns[1])
    for name, queue in shown.items():
        share = queue["share"] if has_share else _dominant(queue["allocated"], totals)
        limit = queue["deserved"] if has_share else queue["capability"]
        closed = "" if queue["state"] == "Open" else f" ({queue['state']})"
        rows.add_row(name + closed, _share(share), listed(queue["allocated"]), listed(limit))
    yield rows


def _share(share: float | None) -> Text:
    if share is None:
        return Text("-", style="dim")
    return Text.assemble(bar(share, WIDTH), f" {percent(share):>4}")


def _totals(record: Record) -> dict[str, float]:
    totals: dict[str, float] = {}
    for node in record["nodes"].values():
        for resource, quantity in node["allocatable"].items():
            totals[resource] = totals.get(resource, 0.0) + measured(resource, quantity)
    return totals


def _dominant(amounts: Mapping[str, str], totals: Mapping[str, float]) -> float:
    """The largest share of the cluster that these amounts are, over all resources."""
    shares = (
        measured(resource, quantity) / totals[resource]
        for resource, quantity in amounts.items()
        if totals.get(resource) and resource not in BESIDES
    )
    return max(shares, default=0.0)
