"""Progress: a line on the terminal about what takes long, on stderr, so that it never mixes with an answer.

It shows once a piece of work is large, and is gone when the work is done. Where nobody watches it says nothing.
"""

from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from posse.cluster.records import CycleResult

LARGE = 2_000
"""Objects or cycles from which on someone may wonder what is going on."""


class Progress:
    """Told of each piece of work; shows the present one."""

    def __init__(self) -> None:
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._is_shown = False
        self._objects = self._cycles = 0
        self._said: set[str] = set()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_shown:
            self._bar.stop()

    @property
    def _is_large(self) -> bool:
        return max(self._objects, self._cycles) >= LARGE

    def say_once(self, text: str) -> None:
        """Say what stays on the terminal, or in whatever stderr goes to, and say it once."""
        if text not in self._said:
            self._said.add(text)
            click.echo(text, err=True)

    def working(self, what: str) -> None:
        """Show what is going on, whatever its size."""
        if not self._bar.console.is_terminal:
            return
        if not self._is_shown:
            self._bar.add_task(what, total=None)
            self._bar.start()
            self._is_shown = True
        self._bar.update(self._bar.task_ids[0], description=what)

    def reading(self, file: str, count: int) -> None:
        """Learn that a file was read, and how many objects it had."""
        del file
        self._objects += count
        if self._is_large:
            self.working(f"reading: {self._objects:,} objects")

    def cycle(self, now: int, result: CycleResult) -> None:
        """Learn that a cycle is over."""
        del now
        self._cycles = result.cycle
        if self._is_large:
            self.working(f"scheduling: cycle {self._cycles:,}")

    def explaining(self) -> None:
        """Learn that what waits is being explained."""
        if self._is_large:
            self.working("asking what would help those that wait")
