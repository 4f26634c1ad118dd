"""Reaching: from which nodes a volume can be used, and where one could be made. Asked once of all nodes, and kept until
a node changes.
"""

from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.cluster.storage_facts import StorageClassFact, VolumeFact
from posse.cluster.world import World
from posse.scheduler.placement.node_traits import NAME_FIELD, NodeTraits, stamp_of

Mask = NDArray[np.bool_]

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
TODAY = {"failure-domain.beta.kubernetes.io/zone": ZONE, "failure-domain.beta.kubernetes.io/region": REGION}
"""What labels of places are called today that had another name once."""
PLACES = (*TODAY, ZONE, REGION)

NAMELESS = {NAME_FIELD: ""}
"""Volumes are held against the labels of nodes alone, here as in every kubelet; so a node has no name for them."""


class Reach:
    """Which nodes of one world reach what."""

    def __init__(self, world: World) -> None:
        self._world, self._traits = world, NodeTraits(world)
        self._kept: dict[Hashable, Mask] = {}
        self._stamp = (-1, 0)

    def of(self, volume: VolumeFact) -> Mask:
        """The nodes from which a volume can be reached. Not to be changed."""
        return self.of_terms(volume.terms)

    def of_terms(self, terms: tuple[NodeTerm, ...] | None) -> Mask:
        """The nodes that meet one of the terms; all if there are none to meet."""
        return self._keep(("terms", terms), lambda: self._meeting(terms))

    def zones_of(self, volume: VolumeFact) -> Mask:
        """The nodes that are where a volume's labels say that it is. A node that is nowhere may have it."""
        return self._keep(("zones", volume.zones), lambda: self._in_zones(volume.zones))

    def for_making(self, storage_class: StorageClassFact) -> Mask:
        """The nodes at which volumes of a class can be made."""
        topologies = storage_class.topologies
        return self._keep(("topologies", topologies), lambda: self._at(topologies))

    def selected(self, selector: Selector) -> Mask:
        """The nodes that a selector means."""
        return self._keep(selector, lambda: self._traits.meets_all(selector.requirements))

    def everywhere(self) -> Mask:
        """All nodes."""
        return np.ones(len(self._world.nodes), np.bool_)

    def at(self, name: str) -> Mask:
        """The one node of a name."""
        found = np.zeros(len(self._world.nodes), np.bool_)
        row = self._world.nodes.find(name)
        if row >= 0:
            found[row] = True
        return found

    def _keep(self, key: Hashable, make: Callable[[], Mask]) -> Mask:
        stamp = stamp_of(self._world)
        if self._stamp != stamp:
            self._kept.clear()
            self._stamp = stamp
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = make()
        return found

    def _meeting(self, terms: tuple[NodeTerm, ...] | None) -> Mask:
        if terms is None:
            return self.everywhere()
        found = np.zeros(len(self._world.nodes), np.bool_)
        for term in terms:
            asks = bool(term.expressions or term.fields)
            if asks and all(requirement.matches(NAMELESS) for requirement in term.fields):
                found |= self._traits.meets_all(term.expressions)
        return found

    def _in_zones(self, zones: Iterable[Requirement]) -> Mask:
        nowhere = self.everywhere()
        for key in PLACES:
            nowhere &= ~self._has(key)
        there = self.everywhere()
        for zone in zones:
            meets = self._traits.meets(zone)
            if zone.key in TODAY:
                meets = np.where(
                    self._has(zone.key), meets, self._traits.meets(Requirement(TODAY[zone.key], "In", zone.values))
                )
            there &= meets
        return nowhere | there

    def _has(self, key: str) -> Mask:
        return self._traits.meets(Requirement(key, "Exists"))

    def _at(self, topologies: tuple[tuple[Requirement, ...], ...]) -> Mask:
        if not topologies:
            return self.everywhere()
        found = np.zeros(len(self._world.nodes), np.bool_)
        for demands in topologies:
            if demands:
                found |= self._traits.meets_all(demands)
        return found
