"""Feasibility: which nodes would take a task of a shape, and the reason code of those that would not.

The first refusal of each node is what counts, sought in this order: what nodes are (fixed filters), room, claims, who lies where (live filters).
Fixed filters are asked once per shape and kept until a node changes. Room is `future_idle`: what is idle, plus what terminating
pods give back, minus what is promised.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import CPU, MEMORY
from posse.cluster.views import Node, Task
from posse.cluster.world import World
from posse.scheduler.claims import Claims
from posse.scheduler.placement.terms import Codes, FixedFilter, LiveFilter
from posse.scheduler.plugin import Plugin
from posse.scheduler.reasons import PASSES, Reasons
from posse.scheduler.tiers import Tiers

Amounts = NDArray[np.int64]


class Feasibility:
    """Reason codes per node row, for the shapes of one world."""

    def __init__(self, world: World, tiers: Tiers, reasons: Reasons, claims: Claims) -> None:
        self._world, self._tiers, self._reasons, self._claims = world, tiers, reasons, claims
        self._gone = reasons.code("node is gone")
        self._fixed: dict[int, Codes] = {}
        self._live: dict[int, tuple[LiveFilter, ...]] = {}
        self._version = -1

    def codes(self, task: int, *, with_room: bool = True) -> Codes:
        """The reason code of every node row for a task: 0 where it would fit now or once promised room is free."""
        shape = int(self._world.columns.ledger.task_shape[task])
        codes = self._by_nodes(shape).copy()
        if with_room:
            self._refuse_by_room(shape, codes)
        for claim in self._claims.of(shape):
            full = (codes == PASSES) & (self._claims.capacity(shape, claim) < 1)
            codes[full] = self._reasons.code(self._claims.refusal(claim))
        for live in self._live[shape]:
            if not (codes == PASSES).any():
                break
            codes = np.where(codes == PASSES, live.codes(task), codes)
        self._refuse_singly(task, codes)
        return codes

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

    def fits_idle(self, task: int, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which candidates have the task's room free now."""
        ledger, traits = self._world.columns.ledger, self._world.columns.traits
        request = ledger.shape_request[ledger.task_shape[task]]
        dimensions = asked(request)
        idle = traits.node_allocatable[np.ix_(dimensions, candidates)] - ledger.node_used[np.ix_(dimensions, candidates)]
        fits: NDArray[np.bool_] = (idle >= request[dimensions, None]).all(axis=0)
        return fits

    def _by_nodes(self, shape: int) -> Codes:
        """Refusals by what nodes are."""
        world = self._world
        if self._version != world.node_facts_version:
            self._fixed.clear()
            self._live.clear()
            self._version = world.node_facts_version
        codes = self._fixed.get(shape)
        if codes is None:
            nodes = len(world.nodes)
            codes = np.where(world.columns.traits.node_present[:nodes], PASSES, self._gone).astype(np.int32)
            terms = [term for plugin in self._tiers.filtering for term in plugin.filters(shape)]
            for term in terms:
                if isinstance(term, FixedFilter):
                    codes = np.where(codes == PASSES, term.codes, codes)
            self._live[shape] = tuple(term for term in terms if isinstance(term, LiveFilter))
            self._fixed[shape] = codes
        return codes

    def _refuse_by_room(self, shape: int, codes: Codes) -> None:
        request = self._world.columns.ledger.shape_request[shape]
        future = self.future_idle()
        for dimension in asked(request):
            short = (codes == PASSES) & (future[dimension] < request[dimension])
            if short.any():
                codes[short] = self._reasons.code(insufficient(self._world.dimensions.names[dimension]))

    def _refuse_singly(self, task: int, codes: Codes) -> None:
        """Ask the plugins that speak of one task and one node."""
        for plugin in self._tiers.filtering_singly:
            for node in np.flatnonzero(codes == PASSES).tolist():
                reason = _ask(plugin, self._world, task, node)
                if reason is not None:
                    codes[node] = self._reasons.code(reason)


def _ask(plugin: Plugin, world: World, task: int, node: int) -> str | None:
    return plugin.node_filter(Task(world, task), Node(world, node))


def asked(request: Amounts) -> list[int]:
    """The dimensions in which a node must have room: those asked for, and cpu and memory always: a node overdrawn there takes nobody."""
    wanted = request > 0
    wanted[[CPU, MEMORY]] = True
    return np.flatnonzero(wanted).tolist()


def insufficient(resource: str) -> str:
    """The reason of a node that lacks room in a resource."""
    return "too many pods" if resource == "pods" else f"insufficient {resource}"


