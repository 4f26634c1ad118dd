"""The plugin: which of the rules hold, and in which order a node's first refusal is sought.

    count      the node takes another pod at all; terminating pods are pods until they are gone
    nodes      cordons, selectors and node affinity, taints, declared features (by what nodes are)
    ports      host ports that somebody on the node has taken
    pods       affinity and anti-affinity, by the pod's own terms and by those of the pods that lie there
    spread     hard topology spread

Room is nobody's rule: it is there or it is not, whichever plugins are configured (see `placement.feasibility`).
Volumes and devices are claims, with books of their own (see `claims`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from posse.cluster.views import Task
from posse.scheduler.arguments import Argument
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.pod_terms import PodCounts
from posse.scheduler.placement.terms import Clause, Codes, CountFilter, Filter, FixedFilter, LiveFilter
from posse.scheduler.plugin import THE_WORLD, Plugin, Setup
from posse.scheduler.plugins.predicates.clauses import Clauses
from posse.scheduler.plugins.predicates.nodes import NodeRules
from posse.scheduler.plugins.predicates.pods import PodRules
from posse.scheduler.plugins.predicates.ports import PortRule
from posse.scheduler.plugins.predicates.spread import SpreadRule

CLAIMS = "Accepted so that configurations load; it switches nothing, as such claims are kept apart from predicates."


class PredicatesPlugin(Plugin):
    """Keep pods off nodes that Kubernetes' rules forbid them."""

    name: ClassVar[str] = "predicates"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument("predicate.NodeAffinityEnable", "bool", True, help="Mind node selectors and required node affinity."),
        Argument("predicate.NodePortsEnable", "bool", True, help="Mind host ports."),
        Argument("predicate.TaintTolerationEnable", "bool", True, help="Mind taints."),
        Argument("predicate.PodAffinityEnable", "bool", True, help="Mind required (anti-)affinity between pods."),
        Argument("predicate.PodTopologySpreadEnable", "bool", True, help="Mind topology spread that must hold."),
        Argument("predicate.NodeVolumeLimitsEnable", "bool", True, help=CLAIMS),
        Argument("predicate.VolumeZoneEnable", "bool", True, help=CLAIMS),
        Argument("predicate.VolumeBindingEnable", "bool", True, help=CLAIMS),
        Argument("predicate.DynamicResourceAllocationEnable", "bool", True, help=CLAIMS),
        Argument(
            "predicate.CacheEnable",
            "bool",
            False,
            help="Accepted so that configurations load; what nodes are is always asked once per kind of pod.",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        is_on = setup.arguments.get_bool
        world, reasons = self.world, self.reasons
        traits, counts = NodeTraits(world), PodCounts(world)
        self._count = CountFilter(reasons.code("too many pods"))
        self._nodes = NodeRules(
            world,
            traits,
            reasons,
            minds_affinity=is_on("predicate.NodeAffinityEnable"),
            minds_taints=is_on("predicate.TaintTolerationEnable"),
        )
        self._ports = PortRule(world, counts, reasons) if is_on("predicate.NodePortsEnable") else None
        self._pods = PodRules(world, traits, counts, reasons) if is_on("predicate.PodAffinityEnable") else None
        spreads = is_on("predicate.PodTopologySpreadEnable")
        self._spread = SpreadRule(world, traits, counts, reasons) if spreads else None
        self._clauses = Clauses(world, self._nodes, self._ports, self._pods, self._spread)

    def filters(self, shape: int) -> Sequence[Filter]:
        """Refuse nodes to a shape, all at once."""
        asked, found = self.world.shapes[shape], list[Filter]()
        found += [self._count, FixedFilter(self._nodes.codes(asked))]
        if self._ports is not None and asked.ports:
            found.append(LiveFilter(_for_any_task(partial(self._ports.codes, asked.ports))))
        if self._pods is not None:
            if asked.near:
                found.append(LiveFilter(partial(self._pods.near, asked.near)))
            if asked.apart:
                found.append(LiveFilter(_for_any_task(partial(self._pods.apart, asked.apart))))
            found.append(LiveFilter(self._pods.kept_away, self._pods.may_keep_away))
        hard = tuple(each for each in asked.spread if each.hard)
        if self._spread is not None and hard:
            found.append(LiveFilter(partial(self._spread.codes, self._spread.fields(asked, hard))))
        return found

    def clauses(self, task: Task) -> Sequence[Clause]:
        """List the requirements that a task has of nodes, each by itself."""
        return self._clauses.of(task)


def _for_any_task(codes: Callable[[], Codes]) -> Callable[[int], Codes]:
    return lambda _: codes()
