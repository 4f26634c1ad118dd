"""Where the next task goes, and where a row of tasks goes: greedy, one after the other.

Nodes where the task may start at once come first; only if there are none, those whose room is being freed. Among them
the highest score wins, and among equal scores the smallest rank. Each placed task lies there when the next one is
looked at.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from posse.cluster.facts import NodeFact, TaskFact

from .cluster import Cluster
from .filters import FILTERS, Filter, refusal
from .node_rules import fits_idle, insufficient
from .pod_terms import kept_away, nodes_with_affinity, nodes_with_anti_affinity
from .quirks import Quirks
from .scores import NodeOrder, Scorer, total_scores

Rank = Callable[[str], int]
How = Literal["allocate", "pipeline"]


class Placed(NamedTuple):
    """Where a task goes, and whether it may start at once."""

    task: TaskFact
    node: str
    how: How


@dataclass(frozen=True)
class Chooser:
    """How nodes are chosen: who refuses, who scores, who wins a tie."""

    rank: Rank
    scorers: tuple[Scorer, ...] = (NodeOrder(),)
    filters: tuple[Filter, ...] = FILTERS
    speaking: frozenset[str] | None = None
    """The nodes whose pods' own preferences count; None: all."""

    def at_open(self, cluster: Cluster, quirks: Quirks) -> "Chooser":
        """The chooser for one cycle, which may remember what the cluster was like when it began."""
        if not quirks.stale_affinity:
            return self
        stale = partial(kept_away, speaking=nodes_with_anti_affinity(cluster))
        filters = tuple(stale if rule is kept_away else rule for rule in self.filters)
        return Chooser(self.rank, self.scorers, filters, nodes_with_affinity(cluster))

    def willing(self, cluster: Cluster, task: TaskFact, avoided: Collection[str] = ()) -> list[NodeFact]:
        """The nodes that do not refuse a task."""
        return [
            node
            for name, node in cluster.nodes.items()
            if name not in avoided and refusal(cluster, task, node, self.filters) is None
        ]

    def choose(self, cluster: Cluster, task: TaskFact, avoided: Collection[str] = ()) -> Placed | None:
        """The best node for a task, or None. A node it was nominated for, if that takes it, is the only candidate."""
        willing = self.willing(cluster, task, avoided)
        willing = [node for node in willing if node.name == task.nominated] or willing
        at_once = [node for node in willing if fits_idle(cluster, task, node)]
        later = [node for node in willing if insufficient(cluster, task, node) is None]
        if at_once:
            return Placed(task, self.best(cluster, task, at_once), "allocate")
        if later:
            return Placed(task, self.best(cluster, task, later), "pipeline")
        return None

    def best(self, cluster: Cluster, task: TaskFact, nodes: list[NodeFact]) -> str:
        """The node with the highest score, the smallest rank among equals."""
        if len(nodes) == 1:
            return nodes[0].name
        scores = total_scores(cluster, task, nodes, self.scorers, self.speaking)
        return min(scores, key=lambda name: (-scores[name], self.rank(name)))


def put_in_place(cluster: Cluster, placed: Placed) -> None:
    """Let a task lie where it was placed."""
    cluster.put(placed.task, "allocated" if placed.how == "allocate" else "pipelined", placed.node)


def place_gang(cluster: Cluster, tasks: list[TaskFact], minimum: int, chooser: Chooser) -> list[Placed] | None:
    """Place tasks in order, leaving out those that fit nowhere; None, and nobody placed, if the minimum is not met."""
    placed: list[Placed] = []
    for task in tasks:
        choice = chooser.choose(cluster, task)
        if choice is not None:
            put_in_place(cluster, choice)
            placed.append(choice)
    if len(placed) >= minimum:
        return placed
    for choice in placed:
        cluster.put(choice.task, "pending")
    return None
