"""Mixes: of which shapes the members of a gang are, and how many of each.

A gang of equal members is known by their one shape, and nothing more is kept of it. One whose members differ has its
members counted by shape.
"""

NO_SHAPE, MIXED = -1, -2
"""What stands for the shape of a gang that has no members, or members that differ."""

Counts = tuple[tuple[int, int], ...]
"""Shapes (their rows) and how many members are of each, by row."""


class Mixes:
    """The members of gangs where they differ, by shape."""

    def __init__(self) -> None:
        self._counts: dict[int, dict[int, int]] = {}

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

    def counts(self, gang: int) -> Counts:
        """How many members of each shape a gang has whose members differ."""
        return tuple(sorted(self._counts[gang].items()))

    def fork(self) -> "Mixes":
        """An independent copy."""
        other = Mixes()
        other._counts = {gang: dict(counts) for gang, counts in self._counts.items()}
        return other
