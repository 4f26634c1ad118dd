"""The nodes of a result as a table with a bar per main resource. Many nodes are shown together if they are alike."""

from collections.abc import Iterator, Mapping
from os.path import commonprefix
from typing import Any

from msgspec import Struct
from rich.console import RenderableType
from rich.text import Text

from posse.simulation.report.layout import bar, heading, table
from posse.simulation.report.words import measured, of, short
from posse.simulation.result import Record

MANY = 16
MOST = 4
"""Resources that find room beside each other in 80 columns."""
BAR = 8
BESIDES = ("cpu", "memory", "pods", "ephemeral-storage", "hugepages-")
"""What is no device, by how it begins."""


class Row(Struct):
    """A node, or all nodes of a shape."""

    name: str
    used: dict[str, float]
    total: dict[str, float]


def nodes(record: Record) -> Iterator[RenderableType]:
    """The table of nodes."""
    every: dict[str, Any] = record["nodes"]
    if not every:
        return
    rows = [_row(name, [node]) for name, node in every.items()] if len(every) <= MANY else _by_shape(every)
    resources = main_resources(rows)
    yield heading("NODES")
    made = table("node", *(short(resource) for resource in resources))
    for row in rows:
        made.add_row(row.name, *(_usage(row, resource) for resource in resources))
    yield made


def main_resources(rows: list[Row]) -> list[str]:
    """CPU, memory and the devices, the scarcest first among the latter."""
    total: dict[str, float] = {}
    used: dict[str, float] = {}
    for row in rows:
        for resource, amount in row.total.items():
            total[resource] = total.get(resource, 0.0) + amount
            used[resource] = used.get(resource, 0.0) + row.used.get(resource, 0.0)
    devices = [name for name in sorted(total) if total[name] and not name.startswith(BESIDES)]
    devices.sort(key=lambda name: -used[name] / total[name])
    return [name for name in ("cpu", "memory", *devices) if total.get(name)][:MOST]


def _usage(row: Row, resource: str) -> Text:
    total = row.total.get(resource, 0.0)
    if not total:
        return Text("-", style="dim")
    used = row.used.get(resource, 0.0)
    return Text.assemble(bar(used / total, BAR), " ", of(resource, used, total))


def _row(name: str, those: list[Mapping[str, Mapping[str, str]]]) -> Row:
    row = Row(name, {}, {})
    for node in those:
        for sums, amounts in ((row.used, node["used"]), (row.total, node["allocatable"])):
            for resource, quantity in amounts.items():
                sums[resource] = sums.get(resource, 0.0) + measured(resource, quantity)
    return row


def _by_shape(every: Mapping[str, Any]) -> list[Row]:
    shapes: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, node in every.items():
        shapes.setdefault(tuple(sorted(node["allocatable"].items())), []).append(name)
    return [_row(_called(names), [every[name] for name in names]) for names in shapes.values()]


def _called(names: list[str]) -> str:
    """What nodes of one shape are called together: `gpu-* (24)`."""
    if len(names) == 1:
        return names[0]
    stem = commonprefix(names).rstrip("0123456789")  # noqa: RUF071 - names, not paths
    return f"{stem}* ({len(names)})" if stem else f"{len(names)} nodes"
