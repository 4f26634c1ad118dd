"""The `posse` command: one verb per file, each loaded when it is called, so that help and version need nothing else."""

import importlib
from collections.abc import Mapping
from difflib import get_close_matches

import click

from posse import __version__
from posse.cli.edge import edge

VERBS: Mapping[str, str] = {
    "demo": "Watch gangs being scheduled on a small cluster, in half a minute.",
    "simulate": "Schedule what manifests describe, and show what would happen.",
    "explain": "Say why a gang, job or pod waits, and what would make it start.",
    "plugins": "List the plugins that a configuration may name, with their arguments.",
    "scheduler": "Schedule a cluster: gangs are bound whole or not at all.",
    "install": "Install the kinds that gangs are written in, in a cluster.",
    "config": "Check a scheduler configuration, or print one to start from.",
    "version": "Print the version.",
}
"""The verbs, in the order in which a newcomer needs them. Each is the command of the module that bears its name."""


class Verbs(click.Group):
    """Finds verbs by name, and stands between them and the world."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb."""
        del ctx
        if cmd_name not in VERBS:
            return None
        with edge():
            command: click.Command = importlib.import_module(f"posse.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is called; one that is not there may be a slip of the pen."""
        near = get_close_matches(args[0], VERBS, n=1)
        if near and args[0] not in VERBS:
            raise click.UsageError(f"There is no verb {args[0]!r}; did you mean {near[0]!r}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without loading them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run a verb, and let nothing but a message and an exit code out."""
        with edge():
            return super().invoke(ctx)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, epilog="Begin with: posse demo")
@click.version_option(__version__, prog_name="posse", message="%(prog)s %(version)s")
def posse() -> None:
    """Gang scheduling for Kubernetes: pods that belong together start together or not at all."""


def main() -> None:
    """Run the command."""
    posse(prog_name="posse")
