"""Plugins and books made up for tests: they keep state, so that whoever undoes something must undo it here too."""

from collections import Counter
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.records import Payload
from posse.cluster.world import World
from posse.scheduler.arguments import Argument
from posse.scheduler.claims import Objection, Wanted
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
        self.version = 0

    def settled(self, world: World, claims: Wanted) -> None:
        """Nothing is: it matters how many are left."""

    def objections(self, world: World, task: int, claims: Wanted) -> list[Objection]:
        """Nodes that have none left."""
        taken = Counter(seat.node for seat in self.taken)
        full = np.array([self.per_node.get(name, 0) <= taken[name] for name in world.nodes.keys], np.bool_)
        return [Objection(f"no licence {claims[0].name} left", full)]

    def reserve(self, world: World, task: int, node: int, claims: Wanted) -> Any:
        """Take one."""
        seat = Seat(world.nodes.keys[node], world.tasks.keys[task])
        self.redo(seat)
        return seat

    def undo(self, token: Any) -> None:
        """Give it back; what was not taken cannot be."""
        self.version += 1
        self.taken.remove(token)

    def redo(self, token: Any) -> None:
        """Take it again."""
        self.version += 1
        self.taken.append(token)

    def payloads(self, world: World, task: int, node: int, claims: Wanted) -> tuple[Payload, ...]:
        """What binds it."""
        return (Payload("licence", claims[0].name, world.nodes.keys[node]),)


def with_witness() -> Registry:
    """What comes with Posse, and the witness."""
    known = built_in()
    return Registry({**known.plugins, WitnessPlugin.name: WitnessPlugin}, known.actions)
