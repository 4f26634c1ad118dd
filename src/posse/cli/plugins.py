"""`posse plugins`: what a configuration may name, and what each plugin can be told."""

from collections.abc import Iterator

import click
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from posse.cli.output import Format, output_flag, write, write_record
from posse.scheduler.arguments import Argument
from posse.scheduler.conf_parts import PluginSpec
from posse.scheduler.plugin import EXTENSION_POINTS
from posse.scheduler.registry import installed
from posse.simulation.result import Record


@click.command
@click.argument("names", nargs=-1)
@output_flag
def command(names: tuple[str, ...], output: Format) -> None:
    """List the plugins that a configuration may name, or only NAMES, with their arguments and extension points."""
    specs = installed().plugin_specs()
    unknown = [name for name in names if name not in specs]
    if unknown:
        raise click.UsageError(f"There is no plugin {unknown[0]!r}. There are: {', '.join(sorted(specs))}.")
    chosen = [specs[name] for name in sorted(names or specs)]
    if output == "text":
        write(*(part for spec in chosen for part in _described(spec)))
    else:
        write_record([_record(spec) for spec in chosen], output)


def _record(spec: PluginSpec) -> Record:
    return {
        "name": spec.name,
        "summary": spec.summary,
        "points": _points(spec),
        "arguments": [
            {
                "name": each.name,
                "kind": each.kind,
                "default": each.default,
                "accepted": each.accepted,
                "help": each.help,
            }
            for each in spec.arguments
        ],
    }


def _points(spec: PluginSpec) -> list[str]:
    """The extension points, in the order in which the plugin base lists them."""
    return [point for point in EXTENSION_POINTS if point in spec.points]


def _described(spec: PluginSpec) -> Iterator[RenderableType]:
    yield Text.assemble((spec.name, "bold"), "  ", spec.summary)
    yield Padding(Text(f"has a say in: {', '.join(_points(spec)) or 'nothing'}", style="dim"), (0, 0, 0, 4))
    for each in spec.arguments:
        yield Padding(Text.assemble((each.name, "cyan"), f": {_default(each)}"), (0, 0, 0, 4))
        yield Padding(Text.assemble(f"{each.help} ", (f"({each.accepted})", "dim")), (0, 0, 0, 8))
    yield ""


def _default(argument: Argument) -> str:
    value = argument.default
    return "none" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
