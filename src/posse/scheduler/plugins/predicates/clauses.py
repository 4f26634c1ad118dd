"""Clauses: every requirement of a pod by itself, and the nodes that meet it, whatever the other requirements are.

A decision stops at a node's first refusal; an explanation asks everything, so that a node that is blocked twice does
not look curable by one fix.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Shape
from posse.cluster.names import PODS
from posse.cluster.views import Task
from posse.cluster.world import World
from posse.scheduler.placement.terms import Clause, Codes
from posse.scheduler.plugins.predicates import nodes, pods, ports, spread
from posse.scheduler.reasons import PASSES

SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
IN_BYTES = ("memory", "ephemeral-storage", "hugepages-")
"""How the names of resources begin that are measured in bytes."""


class Clauses:
    """Lists the requirements of pods, by the rules that are in force."""

    def __init__(
        self,
        world: World,
        node_rules: nodes.NodeRules,
        port_rule: ports.PortRule | None,
        pod_rules: pods.PodRules | None,
        spread_rule: spread.SpreadRule | None,
    ) -> None:
        self._world, self._nodes = world, node_rules
        self._ports, self._pods, self._spread = port_rule, pod_rules, spread_rule

    def of(self, task: Task) -> list[Clause]:
        """All requirements of a task."""
        return [*self._about_nodes(task.shape), *self._about_room(task), *self._about_pods(task)]

    def _clause(self, text: str, codes: Codes) -> Clause:
        return Clause(text, (codes == PASSES) & self._present())

    def _present(self) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = self._world.columns.traits.node_present[: len(self._world.nodes)]
        return present

    def _about_nodes(self, shape: Shape) -> Iterator[Clause]:
        yield self._clause("not cordoned", self._nodes.cordon(shape.tolerations))
        if self._nodes.minds_affinity:
            for requirement in shape.node_selector:
                yield self._clause(f"nodeSelector {requirement}", self._nodes.selector((requirement,)))
            if shape.node_terms is not None:
                text = f"nodeAffinity {nodes.in_words(shape.node_terms)}"
                yield self._clause(text, self._nodes.affinity(shape.node_terms))
        if self._nodes.minds_taints:
            yield self._clause("taints", self._nodes.taints(shape.tolerations))
        for feature in shape.features:
            yield self._clause(f"node feature {feature}", self._nodes.features((feature,)))

    def _about_room(self, task: Task) -> Iterator[Clause]:
        """Room that is free, or will be once terminating pods are gone and promises are kept."""
        world, rows = self._world, len(self._world.nodes)
        ledger, traits = world.columns.ledger, world.columns.traits
        request = ledger.shape_request[task.shape_row]
        for dimension in np.flatnonzero(request).tolist():
            room = traits.node_allocatable[dimension, :rows] - ledger.node_used[dimension, :rows]
            room = room - ledger.node_pipelined[dimension, :rows]
            if dimension != PODS:
                room = room + ledger.node_releasing[dimension, :rows]
            resource = world.dimensions.names[dimension]
            text = f"{resource} {_quantity(resource, int(request[dimension]))}"
            yield Clause(text, (room >= request[dimension]) & self._present())

    def _about_pods(self, task: Task) -> Iterator[Clause]:
        shape = task.shape
        if self._ports is not None:
            for port in shape.ports:
                yield self._clause(f"host port {ports.in_words(port)}", self._ports.codes((port,)))
        if self._pods is not None:
            for term in shape.near:
                yield self._clause(pods.in_words("affinity", term), self._pods.near((term,), task.row))
            for term in shape.apart:
                yield self._clause(pods.in_words("anti-affinity", term), self._pods.apart((term,)))
            if self._pods.may_keep_away(np.array([task.row], np.int32)):
                yield self._clause("anti-affinity of other pods", self._pods.kept_away(task.row))
        if self._spread is not None:
            for constraint in (each for each in shape.spread if each.hard):
                fields = self._spread.fields(shape, (constraint,))
                yield self._clause(spread.in_words(constraint), self._spread.codes(fields, task.row))


def _quantity(resource: str, amount: int) -> str:
    """An amount as people write it: bytes with the suffix that fits, thousandths with an m."""
    if resource == "pods":
        return str(amount)
    if resource.startswith(IN_BYTES):
        power = 0
        while power + 1 < len(SUFFIXES) and amount % 1024 == 0:
            amount, power = amount // 1024, power + 1
        return f"{amount}{SUFFIXES[power]}"
    return f"{amount}m" if amount % 1000 else str(amount // 1000)
