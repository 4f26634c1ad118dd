"""May this task lie on this node? All filters in the order in which the first refusal is found."""

from collections.abc import Callable

from posse.cluster.facts import NodeFact, TaskFact

from . import node_rules as rules
from .cluster import Cluster
from .pod_terms import kept_away, required_apart, required_near
from .spreading import uneven

Filter = Callable[[Cluster, TaskFact, NodeFact], str | None]

PLUGIN_FILTERS: tuple[Filter, ...] = (
    rules.too_many_pods,
    rules.unschedulable,
    rules.node_affinity,
    rules.untolerated_taint,
    rules.port_conflict,
    required_near,
    required_apart,
    kept_away,
    uneven,
    rules.missing_feature,
)
"""Asked of every task."""

FILTERS: tuple[Filter, ...] = (rules.insufficient, *PLUGIN_FILTERS)
"""Asked of every task that asks for resources."""


def refusal(cluster: Cluster, task: TaskFact, node: NodeFact, filters: tuple[Filter, ...] = FILTERS) -> str | None:
    """The first reason why a task may not lie on a node, or None."""
    return next((reason for rule in filters if (reason := rule(cluster, task, node)) is not None), None)


def refusals(cluster: Cluster, task: TaskFact, node: NodeFact, filters: tuple[Filter, ...] = FILTERS) -> list[str]:
    """Every reason, each filter asked alone."""
    return [reason for rule in filters if (reason := rule(cluster, task, node)) is not None]
