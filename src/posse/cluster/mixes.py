"""Mixes: of which shapes the members of a gang are, and how many of each.

A gang of equal members is known by their one shape, and nothing more is kept of it. One whose members differ has its
members counted by shape; gangs of which the counts are the same have the same *mix*, a number, so that what is asked of
their members' room is asked once for all of them.
"""

NO_SHAPE, MIXED = -1, -2
"""What stands for the shape of a gang that has no members, or members that differ."""

NOT_ASKED = -1
"""What stands for a mix that nobody asked for yet."""

Counts = tuple[tuple[int, int], ...]
"""Shapes (their rows) and how many members are of each, by row."""


class Mixes:
    """The mixes of gangs whose members differ."""

    def __init__(self) -> None:
        self._counts: dict[int, dict[int, int]] = {}
        self._numbers: dict[Counts, int] = {}
        self._known: list[Counts] = []

    def join(self, gang: int, shape: int, known: int, size: int) -> int:
        """Count a member that comes to a gang of so many, whose shape is known. Gives the gang's shape from then on."""
        if known in (NO_SHAPE, shape):
            return shape
        counts = self._counts.setdefault(gang, {known: size})
        counts[shape] = counts.get(shape, 0) + 1
        return MIXED

    def leave(self, gang: int, shape: int, size: int) -> int:
        """Count a member out that leaves a gang of so many behind. Gives the gang's shape from then on."""
        counts = self._counts.get(gang)
        if counts is None:
            return shape if size else NO_SHAPE
        counts[shape] -= 1
        if not counts[shape]:
            del counts[shape]
        if len(counts) > 1:
            return MIXED
        del self._counts[gang]
        return next(iter(counts))

    def counts_of(self, gang: int) -> Counts:
        """How many members of each shape a gang has whose members differ."""
        return tuple(sorted(self._counts[gang].items()))

    def find(self, gang: int) -> int:
        """The mix of a gang whose members differ."""
        counts = self.counts_of(gang)
        mix = self._numbers.setdefault(counts, len(self._known))
        if mix == len(self._known):
            self._known.append(counts)
        return mix

    def counts(self, mix: int) -> Counts:
        """How many members of each shape a gang of a mix has."""
        return self._known[mix]

    def fork(self) -> "Mixes":
        """An independent copy."""
        other = Mixes()
        other._counts = {gang: dict(counts) for gang, counts in self._counts.items()}
        other._numbers, other._known = dict(self._numbers), list(self._known)
        return other
