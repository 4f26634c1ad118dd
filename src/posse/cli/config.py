"""`posse config`: check a scheduler configuration, or print one to start from."""

from importlib.resources import files

import click
import msgspec
from rich.text import Text

from posse.cli.flags import compatibility_flag, text_of
from posse.cli.output import Format, output_flag, write, write_record
from posse.scheduler.configuration import DEFAULT_CONF, Configuration, load, packages_named_in
from posse.scheduler.registry import installed
from posse.scheduler.switches import SWITCHES, Side
from posse.simulation.report.layout import table

RECOMMENDED = "recommended.conf"


@click.group
def command() -> None:
    """Check a scheduler configuration, or print one to start from."""


@command.command(short_help="Say what a configuration means, or what is wrong with it.")
@click.argument("file")
@compatibility_flag
def check(file: str, compatibility: Side | None) -> None:
    """Read FILE as the scheduler would: say what it means, or what is wrong with it."""
    text = text_of(file)
    registry = installed(packages_named_in(text, file=file), beside=file)
    configuration = load(
        text, registry=registry.plugin_specs(), actions=registry.action_specs(), file=file, mode=compatibility
    )
    write(*_meaning(configuration))


@command.command(short_help="Print the one that holds where none is given.")
def default() -> None:
    """Print the configuration that holds where none is given."""
    click.echo(DEFAULT_CONF, nl=False)


@command.command(short_help="Print the one that Posse recommends.")
def recommended() -> None:
    """Print the configuration that Posse recommends for a cluster of gangs."""
    click.echo(files("posse.cli").joinpath(RECOMMENDED).read_text(encoding="utf-8"), nl=False)


@command.command
@output_flag
def switches(output: Format) -> None:
    """List where Posse and upstream differ, and why."""
    if output != "text":
        write_record(msgspec.to_builtins(SWITCHES), output)
        return
    for each in SWITCHES:
        rows = table("", "")
        rows.show_header = False
        rows.add_row("posse", each.posse)
        rows.add_row("upstream", each.upstream)
        rows.add_row("why", each.why)
        write(Text(each.name, style="bold"), rows, "")


def _meaning(configuration: Configuration) -> list[Text]:
    """What a configuration comes to."""
    lines = [Text("The configuration is good.", style="bold"), Text(f"actions   {', '.join(configuration.actions)}")]
    for number, tier in enumerate(configuration.tiers, 1):
        lines.append(Text(f"tier {number}    {', '.join(option.name for option in tier)}"))
    compatibility = configuration.compatibility
    overrides = "".join(f", {name}: {side}" for name, side in compatibility.overrides)
    lines.append(Text(f"follows   {compatibility.mode}{overrides}"))
    lines += [Text.assemble(("! ", "yellow"), warning) for warning in configuration.warnings]
    return lines
