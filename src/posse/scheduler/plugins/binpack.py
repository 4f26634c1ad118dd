"""Binpack: fill nodes up, so that others stay empty for those who need a whole one.

A node's points are the mean, over the resources that the pod asks for and that have a weight, of how full it would
be, times 100. A node that one of them would overfill gets none.
"""

from collections.abc import Sequence
from typing import ClassVar

from posse.scheduler.arguments import Argument, Arguments, weight
from posse.scheduler.placement.terms import ResourceRule, ResourceScore, Score
from posse.scheduler.plugin import THE_WORLD, Plugin, Setup

BASIC = ("cpu", "memory")


class BinpackPlugin(Plugin):
    """Prefer nodes that a pod fills."""

    name: ClassVar[str] = "binpack"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    arguments: ClassVar[tuple[Argument, ...]] = (
        weight("binpack.weight", 1, "Weight of the score; 0 switches it off."),
        weight("binpack.cpu", 1, "Weight of cpu; a negative one counts as 1."),
        weight("binpack.memory", 1, "Weight of memory; a negative one counts as 1."),
        Argument("binpack.resources", "str", "", help="Further resources that count, with commas between."),
        weight("binpack.resources.<resource>", None, "Weight of one of these, 1 if not given."),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._score = ResourceScore(
            ResourceRule.BINPACK, _weights(setup.arguments), setup.arguments.get_int("binpack.weight")
        )

    def scores(self, shape: int) -> Sequence[Score]:
        """Give nodes points for a shape, all at once."""
        return (self._score,) if self._score.weight else ()


def _weights(arguments: Arguments) -> tuple[tuple[str, int], ...]:
    """The resources that count: cpu, memory, then the others by name."""
    given = {name: arguments.get_int(f"binpack.{name}") for name in BASIC}
    more = {name.strip() for name in arguments.get_str("binpack.resources").split(",")} - {"", *BASIC}
    weights = arguments.get_ints("binpack.resources.<resource>")
    given.update((name, weights.get(name, 1)) for name in sorted(more))
    return tuple((name, value if value >= 0 else 1) for name, value in given.items())
