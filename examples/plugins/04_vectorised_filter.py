"""A filter for all nodes at once: keep pods that ask for no device off nodes that have some.

`filters` is asked once per shape, that is, once for all pods that ask for the same. It answers with an array that has
one reason code per node, 0 where the node passes. A `FixedFilter` depends on what nodes are and is kept until one of
them changes, so it costs next to nothing, and shapes that have only such terms are placed by the compiled kernel. The
same rule as a `node_filter` would be right, too, and slower.
"""

from collections.abc import Sequence

import numpy as np

from posse.scheduler.arguments import Argument
from posse.scheduler.placement.terms import Filter, FixedFilter
from posse.scheduler.plugin import Plugin, Setup
from posse.scheduler.reasons import PASSES


class DeviceNodesPlugin(Plugin):
    """Keep nodes with devices for pods that use them."""

    name = "device-nodes"
    arguments = (Argument("device-nodes.resource", "str", "nvidia.com/gpu", help="The device."),)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._resource = setup.arguments.get_str("device-nodes.resource")
        self._refusal = self.reasons.code(f"kept for pods that use {self._resource}")

    def filters(self, shape: int) -> Sequence[Filter]:
        device = self.world.dimensions.known(self._resource)
        if device is None or self.world.columns.ledger.shape_request[shape, device] > 0:
            return ()
        has_device = self.world.columns.traits.node_allocatable[device, : len(self.world.nodes)] > 0
        return (FixedFilter(np.where(has_device, np.int32(self._refusal), np.int32(PASSES))),)
