"""One process of a control plane: started with a log, waited for, paused, ended.

Each leads a process group of its own, so a signal meant for whoever started it does not reach it by accident, and
ending it ends what it started and nothing else. It must not outlive us either: on Linux the kernel kills it when the
thread that started it is gone, however that came about; elsewhere an orderly stop has to do.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cluster.waiting import PATIENCE, comes_true

LAST_WORDS = 30
"""Lines of a log that an error tells."""


class StartError(Exception):
    """A process ended, or was not ready in time. The text holds the end of its log."""


class Process:
    """A running process. As a context, it is stopped at the end."""

    def __init__(
        self, name: str, command: Sequence[str | Path], log: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*bound_to_us(), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | (env or {}),
                start_new_session=True,
            )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether it has not ended, paused or not."""
        return self._process.poll() is None

    def until(self, ready: Callable[[], bool], patience: float = PATIENCE) -> Self:
        """Wait until it is ready; otherwise stop it and tell what it last said."""
        if not comes_true(lambda: not self.running or ready(), patience) or not self.running:
            what = "was not ready in time" if self.running else f"ended with {self._process.returncode}"
            self.stop()
            raise StartError(f"{self.name} {what}. The end of {self.log}:\n{self.last_words()}")
        return self

    def last_words(self) -> str:
        """Give the end of its log."""
        return "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-LAST_WORDS:])

    def stop(self, grace: float = 0.0) -> None:
        """End it and whatever it started: kindly if it gets a grace, in seconds, then by force."""
        if grace and self.running:
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        if self.running:
            self._signal(signal.SIGKILL)
        self._process.wait()

    def pause(self) -> None:
        """Let it stand still: its connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let it stand still for a while."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def _signal(self, number: signal.Signals) -> None:
        """Signal its group. Before it is waited for, its number cannot be anybody else's."""
        if self.running:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)


def bound_to_us() -> Sequence[str]:
    """Ask the kernel to kill the process when we are gone, where there is a way to."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
