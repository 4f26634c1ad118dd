"""Host ports: one holder per node, protocol, port and address; 0.0.0.0 is every address."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Port
from posse.cluster.world import World
from posse.scheduler.placement.pod_terms import PodCounts
from posse.scheduler.placement.terms import Codes
from posse.scheduler.reasons import PASSES, Reasons

EVERY_ADDRESS = Port(0).address


class PortRule:
    """Refusals by ports that somebody on the node has."""

    def __init__(self, world: World, counts: PodCounts, reasons: Reasons) -> None:
        self._world, self._counts, self._reasons = world, counts, reasons
        self._holders: dict[Port, NDArray[np.bool_]] = {}

    def codes(self, ports: Sequence[Port]) -> Codes:
        """Refuse each node on which one of the ports is taken."""
        codes = np.zeros(len(self._world.nodes), np.int32)
        for port in ports:
            taken = (codes == PASSES) & (self._taken(port) > 0)
            codes[taken] = self._reasons.code(f"host port {in_words(port)} is taken")
        return codes

    def _taken(self, port: Port) -> NDArray[np.int64]:
        def holders(world: World) -> NDArray[np.int64]:
            """Which shapes hold the port; each is asked once."""
            known = self._holders.get(port, np.zeros(0, np.bool_))
            new = [any(_collide(port, other) for other in shape.ports) for shape in world.shapes[len(known) :]]
            if new:
                known = self._holders[port] = np.append(known, np.array(new, np.bool_))
            return known.astype(np.int64)

        return self._counts.by_shape(port, holders)


def _collide(one: Port, other: Port) -> bool:
    if (one.port, one.protocol) != (other.port, other.protocol) or one.port <= 0:
        return False
    return one.address == other.address or EVERY_ADDRESS in (one.address, other.address)


def in_words(port: Port) -> str:
    """A port as people write it."""
    address = "" if port.address == EVERY_ADDRESS else f"{port.address}:"
    return f"{port.protocol} {address}{port.port}"
