"""Reports: a table for people and a JSON line for programs."""

import json
from collections.abc import Sequence

from bench.timing import machine


def table(title: str, note: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table with a title and what is in the figures."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(column), *(len(row[at]) for row in cells)) for at, column in enumerate(columns)]
    print(f"\n{title}\n{note}\n")
    for line in (columns, *cells):
        first, *rest = [
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join((first, *rest)))


def record(benchmark: str, figures: Sequence[dict[str, object]]) -> None:
    """Print the figures as one line of JSON."""
    print("\n" + json.dumps({"benchmark": benchmark, "machine": machine(), "figures": list(figures)}))


def milliseconds(seconds: float) -> str:
    """A time in milliseconds."""
    return f"{seconds * 1000:.1f}"
