"""A picture of a cluster: each node a row of cells, each cell an eighth of it, lettered by the gang that uses it.

    gpu-1 LLLLLLLL   gpu-2 SSSS····

A node is measured by what is scarcest on it: its devices if it has any, else its cpu. A gang that uses too little for a
cell has none.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from rich.columns import Columns
from rich.text import Text

CELLS = 8
FREE = "·"
COLOURS = ("green", "blue", "magenta", "yellow", "cyan", "red", "bright_green", "bright_blue", "bright_magenta")


class Panel(Struct, frozen=True):
    """A node: its name, and which part of it (of 1) each gang uses."""

    node: str
    parts: tuple[tuple[str, float], ...]


def letters(gangs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A letter and a colour for each gang: its first letter that is still free, else a digit or a star."""
    given: dict[str, tuple[str, str]] = {}
    taken: set[str] = set()
    for number, gang in enumerate(gangs):
        name = gang.rpartition("/")[2].upper()
        letter = next((each for each in name + "123456789" if each.isalnum() and each not in taken), "*")
        taken.add(letter)
        given[gang] = (letter, COLOURS[number % len(COLOURS)])
    return given


def picture(panels: Sequence[Panel], marks: Mapping[str, tuple[str, str]]) -> Columns:
    """All nodes, as many beside each other as fit."""
    width = max((len(panel.node) for panel in panels), default=0)
    shown = [Text.assemble(f"{panel.node:<{width}} ", *_cells(panel, marks)) for panel in panels]
    return Columns(shown, padding=(0, 3))


def _cells(panel: Panel, marks: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    left = CELLS
    for gang, part in panel.parts:
        count = min(left, round(part * CELLS))
        letter, colour = marks[gang]
        yield letter * count, colour
        left -= count
    yield FREE * left, "dim"
