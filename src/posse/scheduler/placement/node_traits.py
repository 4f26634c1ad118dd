"""Node traits: labels, names, taints and the like of all nodes, each as an aspect (see `cluster.aspects`).

A trait is read from every node when it is first asked for; after that only nodes whose fact is another one are read
again.
"""

from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from posse.cluster.aspects import Aspect, satisfying
from posse.cluster.facts import NodeFact
from posse.cluster.selectors import NodeTerm, Requirement
from posse.cluster.world import World

NAME_FIELD = "metadata.name"


class NodeWatch:
    """Tells which node rows hold another fact than when it was last asked."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._facts: list[NodeFact | None] = []
        self._stamp = (-1, 0)

    def changed(self) -> list[int]:
        """The rows, new ones among them."""
        facts, stamp = self._world.nodes.facts, stamp_of(self._world)
        if stamp == self._stamp:
            return []
        before = self._facts
        rows = [row for row, (was, now) in enumerate(zip(before, facts, strict=False)) if was is not now]
        rows.extend(range(len(before), len(facts)))
        self._facts, self._stamp = list(facts), stamp
        return rows


def stamp_of(world: World) -> tuple[int, int]:
    """Changes whenever anything that is computed for all node rows from what nodes are must be computed anew."""
    return world.node_facts_version, len(world.nodes)


class NodeTraits:
    """The traits of the nodes of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._watch = NodeWatch(world)
        self._aspects: dict[Hashable, Aspect[NodeFact]] = {}

    def of(self, name: Hashable, read: Callable[[NodeFact], Hashable | None]) -> Aspect[NodeFact]:
        """The trait of this name, read so."""
        facts, changed = self._world.nodes.facts, self._watch.changed()
        if changed:
            things = [facts[row] for row in changed]
            for aspect in self._aspects.values():
                aspect.reach(len(facts))
                aspect.write(changed, things)
        found = self._aspects.get(name)
        if found is None:
            found = self._aspects[name] = Aspect(read)
            found.reach(len(facts))
            found.write(slice(None), facts)
        return found

    def label(self, key: str) -> Aspect[NodeFact]:
        """A label, which is a topology if pods lie by it: each of its values is a domain."""
        return self.of(("label", key), lambda fact: fact.labels.get(key))

    def names(self) -> Aspect[NodeFact]:
        """The nodes' names."""
        return self.of("name", lambda fact: fact.name)

    def taints(self) -> Aspect[NodeFact]:
        """The nodes' taints, all together; none is no taints."""
        return self.of("taints", lambda fact: fact.taints or None)

    def cordons(self) -> NDArray[np.bool_]:
        """Which nodes are cordoned."""
        return self.of("cordon", lambda fact: fact.unschedulable or None).numbers > 0

    def features(self) -> Aspect[NodeFact]:
        """What the nodes declare, all together."""
        return self.of("features", lambda fact: fact.features or None)

    def meets(self, requirement: Requirement) -> NDArray[np.bool_]:
        """Which nodes have a label that meets a requirement."""
        return satisfying(self.label(requirement.key), requirement)

    def meets_all(self, requirements: Iterable[Requirement]) -> NDArray[np.bool_]:
        """Which nodes meet every requirement."""
        passes = np.ones(len(self._world.nodes), np.bool_)
        for requirement in requirements:
            passes &= self.meets(requirement)
        return passes

    def meets_term(self, term: NodeTerm) -> NDArray[np.bool_]:
        """Which nodes meet a term. An empty term is met by none."""
        if not term.expressions and not term.fields:
            return np.zeros(len(self._world.nodes), np.bool_)
        passes = self.meets_all(term.expressions)
        for requirement in term.fields:
            if requirement.key == NAME_FIELD:
                passes &= satisfying(self.names(), requirement)
            else:
                passes &= requirement.matches({})
        return passes

    def meets_any(self, terms: Iterable[NodeTerm]) -> NDArray[np.bool_]:
        """Which nodes meet at least one of the terms."""
        passes = np.zeros(len(self._world.nodes), np.bool_)
        for term in terms:
            passes |= self.meets_term(term)
        return passes

    def present(self) -> NDArray[np.bool_]:
        """Which rows hold a node."""
        present: NDArray[np.bool_] = self._world.columns.traits.node_present[: len(self._world.nodes)]
        return present
