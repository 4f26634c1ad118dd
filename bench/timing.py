"""Timing: an engine that keeps time of its own phases, and what the machine is that it runs on.

Times are CPU seconds of this process, which does everything in one thread: what other work on the machine takes from us
does not count, except through shared caches.
"""

import gc
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np

from posse.cluster.records import CycleInput, CycleResult
from posse.cluster.world import World
from posse.scheduler.configuration import DEFAULT_CONF, load
from posse.scheduler.engine import Engine
from posse.scheduler.registry import built_in
from posse.scheduler.session import Session

cpu_seconds = time.process_time

PHASES = ("ingest", "open", "actions", "close")


class TimedEngine(Engine):
    """Decides like any engine, and remembers how long each phase of the last cycle took, in seconds."""

    times: dict[str, float]

    def cycle(self, given: CycleInput, *, tell: bool = True) -> CycleResult:
        """Keep time."""
        self.times = {}
        began = cpu_seconds()
        result = super().cycle(given, tell=tell)
        self.times["cycle"] = cpu_seconds() - began
        return result

    def take_in(self, given: CycleInput) -> None:
        with self._phase("ingest"):
            super().take_in(given)

    def _begin(self, now: int, *, tells: bool = True) -> Session:
        with self._phase("open"):
            return super()._begin(now, tells=tells)

    def _act(self, session: Session) -> None:
        with self._phase("actions"):
            super()._act(session)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        began = cpu_seconds()
        yield
        self.times[name] = cpu_seconds() - began


def engine(world: World, conf: str = DEFAULT_CONF) -> TimedEngine:
    """An engine with a configuration; the default one unless said otherwise."""
    registry = built_in()
    configuration = load(conf, registry=registry.plugin_specs(), actions=registry.action_specs())
    return TimedEngine(world, configuration, registry)


def phases(of: TimedEngine) -> dict[str, float]:
    """The phases of the last cycle; what is neither of them is closing."""
    known = {name: of.times.get(name, 0.0) for name in PHASES[:3]}
    return {**known, "close": of.times["cycle"] - sum(known.values())}


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the garbage collector out, as a scheduler that runs for long does by freezing what it has loaded."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def resident() -> int:
    """Bytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def machine() -> dict[str, object]:
    """What the figures were taken on."""
    cpu = next((line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name")), "unknown")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
