"""Plugins and books made up for tests: they keep state, so that whoever undoes something must undo it here too."""

from collections import Counter
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.facts import ClaimReference
from posse.cluster.records import Payload
from posse.cluster.world import World
from posse.scheduler.arguments import Argument
from posse.scheduler.plugin import Plugin, Setup
from posse.scheduler.registry import Registry, built_in


class WitnessPlugin(Plugin):
    """Write down who came and went."""

    name: ClassVar[str] = "witness"
    arguments: ClassVar[tuple[Argument, ...]] = ()

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.state: list[tuple[str, str]] = []

    def on_allocate(self, tasks: NDArray[np.int32]) -> None:
        """Write down arrivals."""
        self.state += [("came", self.world.tasks.keys[task]) for task in tasks.tolist()]

    def on_deallocate(self, tasks: NDArray[np.int32]) -> None:
        """Write down departures."""
        self.state += [("went", self.world.tasks.keys[task]) for task in tasks.tolist()]


class Seat(Struct, frozen=True):
    """A licence in use."""

    node: str
    pod: str


class Licences:
    """A book of licences: so many on each node, one for each pod that claims one."""

    def __init__(self, per_node: dict[str, int]) -> None:
        self.per_node = per_node
        self.taken: list[Seat] = []

    def capacity(self, world: World, shape: int, claim: ClaimReference) -> NDArray[np.int64]:
        """What is left on each node."""
        taken = Counter(seat.node for seat in self.taken)
        return np.array([self.per_node.get(name, 0) - taken[name] for name in world.nodes.keys], np.int64)

    def refusal(self, claim: ClaimReference) -> str:
        """Why a node is refused."""
        return f"no licence {claim.name} left"

    def reserve(self, world: World, task: int, node: int, claim: ClaimReference) -> Any:
        """Take one."""
        seat = Seat(world.nodes.keys[node], world.tasks.keys[task])
        self.taken.append(seat)
        return seat

    def undo(self, token: Any) -> None:
        """Give it back; what was not taken cannot be."""
        self.taken.remove(token)

    def payload(self, world: World, task: int, node: int, claim: ClaimReference) -> Payload:
        """What binds it."""
        return Payload("licence", claim.name, world.nodes.keys[node])


def with_witness() -> Registry:
    """What comes with Posse, and the witness."""
    known = built_in()
    return Registry({**known.plugins, WitnessPlugin.name: WitnessPlugin}, known.actions)
