"""Figures: what a running scheduler has come to, and how it stands, as Prometheus reads it.

What is true of the world and of decisions is read off the engine (`scheduler.metrics`), the same as in a simulation.
What only a process at work has is kept here: how long things took, and what came of what was decided. How its parts
stand at this moment is theirs to say; whoever asks brings it along.
"""

import os
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from posse import __version__
from posse.cluster.records import CycleResult, Evict
from posse.cluster.status import Status
from posse.cluster.world import World
from posse.live.exposition import Histogram, exposed
from posse.scheduler.engine import Engine
from posse.scheduler.metrics.readings import readings
from posse.scheduler.metrics.series import Series, as_record, series
from posse.scheduler.metrics.tally import Tally

CYCLE = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
BIND = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
WAIT = (0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 72 * 3600)
OUTCOMES = ("bound", "refused", "timed-out", "kept")
RELOADS = ("taken", "refused")


class Figures:
    """Counts from the beginning of this process."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.cycles = Histogram("posse_cycle_seconds", CYCLE)
        self.binds = Histogram("posse_bind_seconds", BIND)
        self.waits = Histogram("posse_gang_wait_seconds", WAIT)
        self.outcomes = Counter(dict.fromkeys(OUTCOMES, 0))
        self.reloads = Counter(dict.fromkeys(RELOADS, 0))
        self.interruptions: Counter[str] = Counter()
        """By kind."""
        self.config_refused = False
        """Whether the configuration's file as it is now is not in force."""
        self.repairs = 0
        """Gangs that let go of their bound members."""
        self._born = time.time()

    def learn(self, result: CycleResult, world: World) -> None:
        """Take in what a cycle decided."""
        self.tally.learn(result, world)
        self.repairs += len({it.by for it in result.effects if isinstance(it, Evict) and it.action == "repair"})

    def text(self, engine: Engine, standing: Iterable[Series]) -> str:
        """Write all of them."""
        own = [*standing, *self._counted(), *queue_depth(engine.world), *self._process()]
        figures = readings(engine, self.tally) | as_record(own)
        return exposed(figures, (self.cycles, self.binds, self.waits))

    def _counted(self) -> Iterator[Series]:
        for outcome, count in self.outcomes.items():
            yield series("posse_outcomes_total", count, outcome=outcome)
        for result, count in self.reloads.items():
            yield series("posse_config_reloads_total", count, result=result)
        yield series("posse_config_refused", self.config_refused)
        for kind, count in self.interruptions.items():
            yield series("posse_watch_interruptions_total", count, kind=kind)
        yield series("posse_repairs_total", self.repairs)

    def _process(self) -> Iterator[Series]:
        """What every process is asked for, under the names that all give it."""
        yield series("posse_build_info", 1, version=__version__)
        yield series("process_start_time_seconds", self._born)
        yield series("process_cpu_seconds_total", time.process_time())
        yield series("process_resident_memory_bytes", _memory())


def queue_depth(world: World) -> Iterator[Series]:
    """How many pods of each queue wait for a node."""
    ledger, traits, count = world.columns.ledger, world.columns.traits, len(world.gangs)
    declared = np.flatnonzero(traits.gang_declared[:count])
    pending = ledger.gang_count[declared, Status.PENDING]
    depths = np.bincount(ledger.gang_queue[declared], weights=pending, minlength=len(world.queues))
    for row in world.queues.declared():
        yield series("posse_queue_depth", depths[row], queue_name=world.queues.keys[row])


def _memory() -> int:
    """Bytes in memory now; where the system does not say, the most there ever were."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
