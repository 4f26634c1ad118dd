"""Long commands that say how they get on, and what went wrong."""

import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

STILL_AT_IT = 30.0
"""Seconds between two signs of life."""

LAST_WORDS = 15
"""Lines of a failed command's output that are told."""


class UnavailableError(Exception):
    """Something that tests need cannot be had here. The text says what and why."""


def run(
    command: Sequence[str | Path], what: str, say: Callable[[str], None], *, cwd: Path, env: Mapping[str, str]
) -> None:
    """Run a command to its end, with a line when it begins, every while, and when it is done."""
    began = time.monotonic()
    say(f"{what} ...")
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
        subprocess.Popen(command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        while (code := waited(process)) is None:
            say(f"{what} ... {time.monotonic() - began:.0f} s so far")
        if code:
            output.seek(0)
            raise UnavailableError(f"{what} failed:\n" + "".join(output.readlines()[-LAST_WORDS:]).rstrip())
    say(f"{what}: {time.monotonic() - began:.0f} s")


def waited(process: subprocess.Popen[bytes]) -> int | None:
    """Give the exit code, or nothing if the process goes on."""
    try:
        return process.wait(STILL_AT_IT)
    except subprocess.TimeoutExpired:
        return None
