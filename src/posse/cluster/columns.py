"""The columns: every number of the model, in arrays that grow.

Each array is declared once, with its axes, in `LAYOUT`: T tasks, N nodes, G gangs, C cohorts, Q queues, S shapes, D
resource dimensions, R statuses. Growing an axis reallocates the arrays that have it, at doubled capacity, so rows
beyond the number in use hold fill values and nothing else. Two named tuples give the arrays their names: `ledger` has
what moves (see `ledger`), `traits` what observations say and decisions read. They are tuples so that a kernel takes all
of them as one argument.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Shape
from posse.cluster.ledger import Ledger
from posse.cluster.mixes import NO_SHAPE
from posse.cluster.names import PODS, Dimensions
from posse.cluster.ordering import NO_INDEX
from posse.cluster.phases import GangPhase
from posse.cluster.status import STATUSES, Status

Axis = Literal["T", "N", "G", "C", "Q", "S", "D", "R"] | int

LOG_LENGTH = 1 << 16


class Traits(NamedTuple):
    """What is known of each row and does not move by moving tasks."""

    node_present: NDArray[np.bool_]
    """[N] an observed node stands in the row."""
    node_allocatable: NDArray[np.int64]
    """[D, N] 0 where no node stands."""
    node_rank: NDArray[np.int64]
    """[N] decides between equal scores: the smaller wins. A hash of seed and name."""
    task_priority: NDArray[np.int64]
    """[T]"""
    task_nominated: NDArray[np.bool_]
    """[T] its status names a node."""
    task_index: NDArray[np.int64]
    """[T] the index that its name ends in, `NO_INDEX` if none; see `ordering`."""
    task_created: NDArray[np.int64]
    """[T] nanoseconds."""
    task_rank: NDArray[np.int32]
    """[T] its place in the default order of its gang; kept by `World.rank`."""
    gang_declared: NDArray[np.bool_]
    """[G] a declared gang stands in the row."""
    gang_parted: NDArray[np.bool_]
    """[G] roles or sub-gangs have minimums of their own."""
    gang_divided: NDArray[np.bool_]
    """[G] it has sub-gangs."""
    gang_shape: NDArray[np.int32]
    """[G] the shape of all its members, `MIXED` if they differ, `NO_SHAPE` if it has none; see `mixes`."""
    gang_min: NDArray[np.int64]
    """[G] the minimum."""
    gang_created: NDArray[np.int64]
    """[G] nanoseconds."""
    gang_priority: NDArray[np.int64]
    """[G] resolved through the priority classes."""
    gang_started: NDArray[np.bool_]
    """[G] its minimum was bound at some time."""
    gang_phase: NDArray[np.int8]
    """[G] `GangPhase`: where the gang is in its life. Decided by the cycle, observed only at first sight."""
    gang_has_min_resources: NDArray[np.bool_]
    """[G]"""
    gang_min_resources: NDArray[np.int64]
    """[G, D]"""


LAYOUT: dict[str, tuple[tuple[Axis, ...], Any, int]] = {
    "task_status": (("T",), np.int8, int(Status.GONE)),
    "task_node": (("T",), np.int32, -1),
    "task_gang": (("T",), np.int32, -1),
    "task_role": (("T",), np.int32, -1),
    "task_subgroup": (("T",), np.int32, -1),
    "task_shape": (("T",), np.int32, -1),
    "task_kin": (("T",), np.int32, -1),
    "shape_request": (("S", "D"), np.int64, 0),
    "shape_scored": (("S", 2), np.int64, 0),
    "shape_best_effort": (("S",), np.bool_, 0),
    "node_used": (("D", "N"), np.int64, 0),
    "node_releasing": (("D", "N"), np.int64, 0),
    "node_pipelined": (("D", "N"), np.int64, 0),
    "node_scored": ((2, "N"), np.int64, 0),
    "node_residents": (("N",), np.int64, 0),
    "gang_queue": (("G",), np.int32, 0),
    "gang_touched": (("G",), np.int64, 0),
    "moment": ((1,), np.int64, 0),
    "gang_counts_gated": (("G",), np.bool_, 0),
    "gang_count": (("G", "R"), np.int64, 0),
    "gang_best_effort": (("G",), np.int64, 0),
    "gang_allocated": (("G", "D"), np.int64, 0),
    "gang_promised": (("G", "D"), np.int64, 0),
    "gang_requested": (("G", "D"), np.int64, 0),
    "cohort_count": (("C", "R"), np.int64, 0),
    "cohort_best_effort": (("C",), np.int64, 0),
    "queue_allocated": (("Q", "D"), np.int64, 0),
    "queue_promised": (("Q", "D"), np.int64, 0),
    "queue_waiting": (("Q", "D"), np.int64, 0),
    "node_present": (("N",), np.bool_, 0),
    "node_allocatable": (("D", "N"), np.int64, 0),
    "node_rank": (("N",), np.int64, 0),
    "task_priority": (("T",), np.int64, 0),
    "task_nominated": (("T",), np.bool_, 0),
    "task_index": (("T",), np.int64, NO_INDEX),
    "task_created": (("T",), np.int64, 0),
    "task_rank": (("T",), np.int32, 0),
    "gang_parted": (("G",), np.bool_, 0),
    "gang_divided": (("G",), np.bool_, 0),
    "gang_shape": (("G",), np.int32, NO_SHAPE),
    "gang_declared": (("G",), np.bool_, 0),
    "gang_min": (("G",), np.int64, 0),
    "gang_created": (("G",), np.int64, 0),
    "gang_priority": (("G",), np.int64, 0),
    "gang_started": (("G",), np.bool_, 0),
    "gang_phase": (("G",), np.int8, int(GangPhase.PENDING)),
    "gang_has_min_resources": (("G",), np.bool_, 0),
    "gang_min_resources": (("G", "D"), np.int64, 0),
}


class Columns:
    """All arrays of one world, and how far each axis reaches."""

    def __init__(self, dimensions: int) -> None:
        self._extent: dict[Axis, int] = {
            "T": 64,
            "N": 16,
            "G": 16,
            "C": 16,
            "Q": 4,
            "S": 16,
            "D": dimensions,
            "R": STATUSES,
        }
        arrays = {name: self._empty(name) for name in LAYOUT}
        self._name({**arrays, **_empty_logs(LOG_LENGTH)})
        self.log_epoch = 0
        """Rises when the logs are cleared; a reader of an older epoch has missed entries and must look at everything.
        """

    def _empty(self, name: str) -> NDArray[Any]:
        axes, dtype, fill = LAYOUT[name]
        lengths = [axis if isinstance(axis, int) else self._extent[axis] for axis in axes]
        return np.full(lengths, fill, dtype)

    def _name(self, arrays: dict[str, Any]) -> None:
        self.ledger = Ledger(**{name: arrays[name] for name in Ledger._fields})
        self.traits = Traits(**{name: arrays[name] for name in Traits._fields})

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {**self.ledger._asdict(), **self.traits._asdict()}

    def _reach(self, axis: Axis, size: int) -> None:
        """Make an axis reach at least `size`."""
        if size <= self._extent[axis]:
            return
        self._extent[axis] = size if axis == "D" else max(size, 2 * self._extent[axis])
        arrays = self._arrays()
        for name, (axes, _, _) in LAYOUT.items():
            if axis in axes:
                grown = self._empty(name)
                old = arrays[name]
                grown[tuple(slice(length) for length in old.shape)] = old
                arrays[name] = grown
        self._name(arrays)

    def grow_tasks(self, count: int) -> None:
        """Make room for this many tasks."""
        self._reach("T", count)

    def grow_gangs(self, count: int) -> None:
        """Make room for this many gangs."""
        self._reach("G", count)

    def grow_cohorts(self, count: int) -> None:
        """Make room for this many roles and sub-gangs."""
        self._reach("C", count)

    def grow_queues(self, count: int) -> None:
        """Make room for this many queues."""
        self._reach("Q", count)

    def widen(self, dimensions: int) -> None:
        """Make room for this many resource dimensions."""
        self._reach("D", dimensions)

    def add_node(self, row: int, seed: int, name: str) -> None:
        """Prepare a row for a node of this name."""
        self._reach("N", row + 1)
        self.traits.node_rank[row] = tie_rank(seed, name)

    def add_shape(self, row: int, shape: Shape, dimensions: Dimensions) -> None:
        """Write what a shape asks for into its row."""
        self._reach("S", row + 1)
        ledger = self.ledger
        ledger.shape_request[row] = 0
        for name, amount in shape.requests:
            ledger.shape_request[row, dimensions.number(name)] = amount
        ledger.shape_scored[row] = shape.scored_cpu, shape.scored_memory
        asked = ledger.shape_request[row] > 0
        asked[PODS] = False
        ledger.shape_best_effort[row] = not asked.any()

    def clear_gang(self, row: int, queue: int) -> None:
        """Make a gang's row that of one nothing is known about."""
        traits = self.traits
        self.ledger.gang_queue[row] = queue
        self.ledger.gang_counts_gated[row] = False
        traits.gang_min[row] = traits.gang_created[row] = traits.gang_priority[row] = 0
        traits.gang_phase[row] = GangPhase.PENDING
        traits.gang_has_min_resources[row] = traits.gang_declared[row] = False
        traits.gang_parted[row] = traits.gang_divided[row] = traits.gang_started[row] = False
        traits.gang_min_resources[row] = 0

    def reserve_logs(self, entries: int) -> None:
        """Make sure that the logs take this many more entries, forgetting the old ones if they must."""
        ledger = self.ledger
        if max(ledger.log_ends.tolist()) + entries <= len(ledger.node_log):
            return
        if entries > len(ledger.node_log):
            self.ledger = ledger._replace(**_empty_logs(2 * entries))
        self.ledger.log_ends[:] = 0
        self.log_epoch += 1

    def log_node(self, row: int) -> None:
        """Note that a node changed."""
        self.reserve_logs(1)
        self.ledger.node_log[self.ledger.log_ends[0]] = row
        self.ledger.log_ends[0] += 1

    def log_gang(self, row: int) -> None:
        """Note that a gang changed."""
        self.ledger.moment[0] += 1
        self.ledger.gang_touched[row] = self.ledger.moment[0]

    def log_gangs(self, rows: NDArray[np.intp]) -> None:
        """Note that many gangs changed."""
        self.ledger.moment[0] += 1
        self.ledger.gang_touched[rows] = self.ledger.moment[0]

    def fork(self, spare: "Columns | None" = None) -> "Columns":
        """An independent copy, written over a spare one if there is one: fresh memory costs far more than copying."""
        other = Columns.__new__(Columns)
        other._extent = dict(self._extent)
        other.ledger = Ledger(*_copied(self.ledger, spare.ledger if spare else repeat(None)))
        other.traits = Traits(*_copied(self.traits, spare.traits if spare else repeat(None)))
        other.log_epoch = self.log_epoch
        return other


def _copied(arrays: Iterable[NDArray[Any]], spares: Iterable[NDArray[Any] | None]) -> Iterator[NDArray[Any]]:
    """Copies of arrays, in spare ones of the same size where there are such."""
    for array, spare in zip(arrays, spares, strict=False):
        if spare is not None and spare.shape == array.shape:
            np.copyto(spare, array)
            yield spare
        else:
            yield array.copy()


def _empty_logs(length: int) -> dict[str, NDArray[Any]]:
    return {
        "node_log": np.zeros(length, np.int32),
        "pod_log": np.zeros((length, 5), np.int32),
        "log_ends": np.zeros(2, np.int64),
    }


def tie_rank(seed: int, name: str) -> int:
    """What decides between nodes of equal score: the same for the same seed and name, everywhere."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
