"""Feasibility: which nodes would take a task of a shape, and the reason code of those that would not.

The first refusal of each node is what counts, sought in this order: what nodes are (fixed filters), room, claims,
who lies where (live filters). Fixed filters are asked once per shape and kept until a node changes; so are claims of
which all is settled, until something about storage does. Room is `future_idle`: what is idle, plus what terminating
pods give back, minus what is promised.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.names import CPU, MEMORY, PODS
from posse.cluster.views import Node, Task
from posse.cluster.world import World
from posse.scheduler.claims import Claims, Objection
from posse.scheduler.placement.node_traits import stamp_of
from posse.scheduler.placement.terms import Codes, CountFilter, FixedFilter, LiveFilter
from posse.scheduler.plugin import Plugin
from posse.scheduler.reasons import PASSES, Reasons
from posse.scheduler.tiers import Tiers

Amounts = NDArray[np.int64]


class ShapeFilters(Struct, frozen=True):
    """What all plugins together say of a shape."""

    fixed: Codes
    counts: tuple[CountFilter, ...]
    live: tuple[LiveFilter, ...]
    asks_claims: bool
    """Whether its claims have to be asked about for each task."""
    claims_stamp: int


class Feasibility:
    """Reason codes per node row, for the shapes of one world."""

    def __init__(self, world: World, tiers: Tiers, reasons: Reasons, claims: Claims) -> None:
        self._world, self._tiers, self._reasons, self._claims = world, tiers, reasons, claims
        self._gone = reasons.code("node is gone")
        self._filters: dict[int, ShapeFilters] = {}
        self._stamp = (-1, 0)
        self._last: tuple[Hashable, Codes] | None = None

    # ------------------------------------------------------------------ the answer

    def codes(self, task: int, *, with_room: bool = True) -> Codes:
        """The reason code of every node row for a task:

        0 where it would fit now or once promised room is free. Not to be changed.

        Equal tasks that ask one after the other while nothing moves get the same answer, and the very same array.
        """
        shape = int(self._world.columns.ledger.task_shape[task])
        simple = not (
            self.asks_claims(shape) or self._tiers.filtering_singly or self.live(shape, np.array([task], np.int32))
        )
        if not simple or not with_room:
            return self._asked(task, shape, with_room=with_room)
        columns = self._world.columns
        claims = self._claims.stamp(shape)
        state = (columns.log_epoch, int(columns.ledger.log_ends[0]), stamp_of(self._world), claims, shape)
        if self._last is None or self._last[0] != state:
            self._last = (state, self._asked(task, shape, with_room=True))
        return self._last[1]

    def _asked(self, task: int, shape: int, *, with_room: bool) -> Codes:
        codes = self.fixed(shape).copy()
        if with_room:
            self._refuse_by_room(shape, codes)
        if self.asks_claims(shape):
            self._refuse_by_claims(self._claims.objections(task), codes)
        for live in self.live(shape, np.array([task], np.int32)):
            if not (codes == PASSES).any():
                break
            codes = np.where(codes == PASSES, live.codes(task), codes)
        self._refuse_singly(self._tiers.filtering_singly, task, codes)
        return codes

    def fits_idle(self, task: int, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which candidates have the task's room free now."""
        ledger, traits = self._world.columns.ledger, self._world.columns.traits
        request = ledger.shape_request[ledger.task_shape[task]]
        fits = np.ones(len(candidates), np.bool_)
        for dimension in asked(request):
            idle = traits.node_allocatable[dimension, candidates] - ledger.node_used[dimension, candidates]
            fits &= idle >= request[dimension]
        return fits

    # ------------------------------------------------------------------ what nodes are, who lies where

    def fixed(self, shape: int) -> Codes:
        """Refusals by what nodes are. Not to be changed."""
        return self._of(shape).fixed

    def asks_claims(self, shape: int) -> bool:
        """Whether a shape has claims of which not everything is settled."""
        return self._of(shape).asks_claims

    def live(self, shape: int, tasks: NDArray[np.int32]) -> tuple[LiveFilter, ...]:
        """The live filters that could refuse a node to any of some tasks of a shape."""
        return tuple(live for live in self._of(shape).live if live.concerns(tasks))

    def counts_terminating(self, shape: int) -> bool:
        """Whether terminating pods keep their place among a node's pods until they are gone (see `CountFilter`)."""
        return bool(self._of(shape).counts)

    def _of(self, shape: int) -> ShapeFilters:
        stamp = stamp_of(self._world)
        if self._stamp != stamp:
            self._filters.clear()
            self._stamp = stamp
        found = self._filters.get(shape)
        if found is None or found.claims_stamp != self._claims.stamp(shape):
            found = self._filters[shape] = self._ask(shape)
        return found

    def _ask(self, shape: int) -> ShapeFilters:
        present = self._world.columns.traits.node_present[: len(self._world.nodes)]
        codes = np.where(present, np.int32(PASSES), np.int32(self._gone))
        terms = [term for plugin in self._tiers.filtering for term in plugin.filters(shape)]
        for term in terms:
            if isinstance(term, FixedFilter):
                codes = np.where(codes == PASSES, term.codes, codes)
        if self._tiers.filtering_once:
            self._refuse_singly(self._tiers.filtering_once, self._world.some_task_of(shape), codes)
        settled = self._claims.settled(shape)
        self._refuse_by_claims(settled or (), codes)
        counts = tuple(term for term in terms if isinstance(term, CountFilter))
        live = tuple(term for term in terms if isinstance(term, LiveFilter))
        return ShapeFilters(codes, counts, live, settled is None, self._claims.stamp(shape))

    # ------------------------------------------------------------------ room

    def idle(self) -> Amounts:
        """[D, N] what is free now and not promised: an allocation must fit both this and what will be free."""
        nodes = len(self._world.nodes)
        ledger, traits = self._world.columns.ledger, self._world.columns.traits
        idle: Amounts = traits.node_allocatable[:, :nodes] - ledger.node_used[:, :nodes]
        return idle

    def future_idle(self) -> Amounts:
        """[D, N] what will be free when terminating pods are gone, minus what is promised."""
        nodes = len(self._world.nodes)
        ledger = self._world.columns.ledger
        future: Amounts = self.idle() + ledger.node_releasing[:, :nodes] - ledger.node_pipelined[:, :nodes]
        return future

    def room(self, shape: int) -> Amounts:
        """[D, N] what is left for tasks of a shape, allocated or promised; `asked` says which dimensions count."""
        room = self.future_idle()
        if self.counts_terminating(shape):
            room[PODS] -= self._world.columns.ledger.node_releasing[PODS, : len(self._world.nodes)]
        return room

    def counts_pods(self, shape: int) -> bool:
        """Whether terminating pods keep their place among a node's pods until they are gone."""
        return bool(self._of(shape).counts)

    def _refuse_by_claims(self, objections: Iterable[Objection], codes: Codes) -> None:
        for each in objections:
            codes[(codes == PASSES) & each.nodes] = self._reasons.code(each.words, of_pod=each.of_pod)

    def _refuse_by_room(self, shape: int, codes: Codes) -> None:
        request, room = self._world.columns.ledger.shape_request[shape], self.room(shape)
        for dimension in asked(request):
            short = (codes == PASSES) & (room[dimension] < request[dimension])
            if short.any():
                codes[short] = self._reasons.code(insufficient(self._world.dimensions.names[dimension]))

    # ------------------------------------------------------------------ plain Python

    def _refuse_singly(self, plugins: Sequence[Plugin], task: int, codes: Codes) -> None:
        """Ask plugins that speak of one task and one node."""
        for plugin in plugins:
            for node in np.flatnonzero(codes == PASSES).tolist():
                reason = _ask_singly(plugin, self._world, task, node)
                if reason is not None:
                    codes[node] = self._reasons.code(reason)


def _ask_singly(plugin: Plugin, world: World, task: int, node: int) -> str | None:
    return plugin.node_filter(Task(world, task), Node(world, node))


def asked(request: Amounts) -> list[int]:
    """The dimensions in which a node must have room: those asked for, and always cpu and memory.

    A node that is overdrawn in these takes nobody.
    """
    wanted = request > 0
    wanted[[CPU, MEMORY]] = True
    dimensions: list[int] = np.flatnonzero(wanted).tolist()
    return dimensions


def insufficient(resource: str) -> str:
    """The reason of a node that lacks room in a resource."""
    return "too many pods" if resource == "pods" else f"insufficient {resource}"
