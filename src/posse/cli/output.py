"""Output: a record for programs, or text for people.

Programs get the record and nothing else, the same bytes for the same record. People get text as wide as their
terminal, with colours only there; what is piped is 80 columns wide (or `COLUMNS`), plain, and without trailing spaces.
"""

import sys
from typing import Any, Literal

import click
import msgspec
import yaml
from rich.console import Console, RenderableType

Format = Literal["text", "json", "yaml"]

output_flag = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "yaml"]),
    default="text",
    show_default=True,
    help="Text is for people, the others for programs.",
)


def write_record(record: Any, form: Format) -> None:
    """Write a record as programs read it."""
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(record), indent=1))
    else:
        click.echo(yaml.dump(record, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120), nl=False)


ROWS = 60
"""How many gangs a person reads through on a terminal. A pipe takes all."""


def is_watched() -> bool:
    """Whether what is written goes to a terminal."""
    return sys.stdout.isatty()


def rows_that_fit() -> int | None:
    """How long a list may be; None where nobody has to look at it."""
    return ROWS if is_watched() else None


def write(*parts: RenderableType) -> None:
    """Write text for people."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


try:
    from yaml import CSafeDumper as _BaseDumper
except ImportError:  # without the C library: slower, and the same text
    from yaml import SafeDumper as _BaseDumper  # type: ignore[assignment]


class _Dumper(_BaseDumper):
    """Writes every value where it stands, without references to equal ones."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never refer back."""
        del data
        return True
