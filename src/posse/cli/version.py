"""`posse version`."""

import click

from posse import __version__


@click.command
def command() -> None:
    """Print the version."""
    click.echo(f"posse {__version__}")
