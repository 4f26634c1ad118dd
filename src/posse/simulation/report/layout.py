"""The shapes that all reports are made of: headings, tables without lines, bars.

Nothing is ever cut off: what is too wide for its column goes on in the next line.
"""

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

STYLES = {
    "running": "green",
    "placed": "green",
    "finished": "dim",
    "empty": "dim",
    "waiting": "yellow",
    "pipelined": "cyan",
    "held": "cyan",
    "gated": "yellow",
    "timed-out": "red",
    "invalid": "red",
}
"""How the states of gangs are shown."""

FULL, EMPTY = "█", "░"
EIGHTHS = " ▏▎▍▌▋▊▉"


def heading(text: str) -> Text:
    """A heading, with a line of space above it."""
    return Text(f"\n{text}", style="bold")


def table(*columns: str, numbers: frozenset[str] | set[str] = frozenset()) -> Table:
    """A table with these columns; those of `numbers` stand to the right."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        is_number = name in numbers
        made.add_column(name, justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
    return made


def point(mark: str, style: str, text: Text | str, indent: int = 0) -> Padding:
    """A point of a list: its mark, and the text beside it, however many lines it takes."""
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row(Text(mark, style=style), text)
    return Padding(rows, (0, 0, 0, indent))


def state(name: str) -> Text:
    """A gang's state in its colour."""
    return Text(name, style=STYLES.get(name, ""))


def bar(share: float, width: int) -> Text:
    """A share of 1 as a bar. More than 1 is full, and red."""
    filled = min(max(share, 0.0), 1.0) * width
    whole = int(filled)
    part = EIGHTHS[int((filled - whole) * 8)].strip()
    style = "red" if share > 1.0001 else "green"
    return Text.assemble((FULL * whole + part, style), (EMPTY * (width - whole - len(part)), "dim"))


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share * 100:.0f}%"
