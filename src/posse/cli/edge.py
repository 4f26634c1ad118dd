"""The edge: where every fault becomes one message and an exit code, and none becomes a traceback.

Bad input is said in full (file, document, object, field, what is wrong, what is accepted) and exits with 2, as wrong
usage does. A reader who leaves early, or a user who presses Ctrl-C, is no fault. Whatever else goes wrong is ours: we
say so, and how to get at the traceback.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from posse.errors import InputError

BAD_INPUT, OUR_FAULT, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141
DEBUG = "POSSE_DEBUG"


class Refusal(click.ClickException):
    """Input that cannot be taken, as it is told to people."""

    exit_code = BAD_INPUT

    def __init__(self, fault: InputError) -> None:
        where = str(fault.place)
        super().__init__(f"{where}: {fault.message}" if where else fault.message)
        self.accepted = fault.accepted

    def show(self, file: IO[Any] | None = None) -> None:
        """Say where, what, and what is accepted."""
        click.echo(f"Error: {self.message}", file=file, err=True)
        if self.accepted:
            click.echo(f"  accepted: {self.accepted}", file=file, err=True)


class Apology(click.ClickException):
    """A fault of ours."""

    exit_code = OUR_FAULT

    def show(self, file: IO[Any] | None = None) -> None:
        """Say that it is ours, and how to see more of it."""
        click.echo(
            f"Sorry: Posse itself failed here; your input may well be right ({self.message}).", file=file, err=True
        )
        click.echo(f"  {DEBUG}=1 before the same command shows the traceback that a report needs.", file=file, err=True)


@contextmanager
def edge() -> Iterator[None]:
    """Let nothing but a message and an exit code out."""
    try:
        yield
    except InputError as fault:
        raise Refusal(fault) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _forget_output()
        raise click.exceptions.Exit(PIPE_CLOSED) from None
    except Exception as fault:
        if os.environ.get(DEBUG):
            raise
        first_line = str(fault).partition("\n")[0]
        raise Apology(f"{type(fault).__name__}: {first_line}") from fault


def _forget_output() -> None:
    """Nobody reads any more: let what is still buffered go nowhere, so that the interpreter's exit stays quiet too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
