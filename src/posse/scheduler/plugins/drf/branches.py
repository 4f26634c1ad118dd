"""Branches: the tree that queues' annotations describe.

    volcano.sh/hierarchy: root/science/dev          the path of a queue, from the root down
    volcano.sh/hierarchy-weights: 1/3/2             the weight of each step

Gangs are the leaves, under the branch at the end of their queue's path. Branches are numbered, parents before
children; number 0 is the root. If queues disagree about a shared step's weight, the first by name says. A weight
below 1, or none, is 1.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from posse.cluster.facts import QueueFact

HIERARCHY = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"

ROOT = 0


class Branches(Struct, frozen=True):
    """All branches, and which of them lead to each queue."""

    parents: Sequence[int]
    """Of each branch; the root is its own."""
    weights: Sequence[float]
    paths: Sequence[tuple[int, ...]]
    """Of each queue row: the branches below the root that lead to it; empty for a queue of no path."""

    def end(self, queue: int) -> int:
        """The branch that a queue's gangs hang from."""
        return self.paths[queue][-1] if self.paths[queue] else ROOT


def grow(queues: Iterable[QueueFact | None]) -> Branches:
    """Make the tree of queues, given by row."""
    rows = list(queues)
    parents, weights = [ROOT], [1.0]
    children: dict[tuple[int, str], int] = {}
    paths: list[tuple[int, ...]] = [()] * len(rows)
    for row, fact in sorted(enumerate(rows), key=lambda pair: pair[1].key if pair[1] else ""):
        steps, stated = _steps(fact)
        branch, path = ROOT, []
        for number, step in enumerate(steps, start=1):
            child = children.setdefault((branch, step), len(parents))
            if child == len(parents):
                parents.append(branch)
                weights.append(_weight(stated, number))
            branch = child
            path.append(branch)
        paths[row] = tuple(path)
    return Branches(parents, weights, paths)


def _steps(fact: QueueFact | None) -> tuple[list[str], list[str]]:
    """The steps of a queue's path below the root, and what it says of weights."""
    if fact is None:
        return [], []
    return fact.annotations.get(HIERARCHY, "").split("/")[1:], fact.annotations.get(WEIGHTS, "").split("/")


def _weight(stated: Sequence[str], number: int) -> float:
    try:
        weight = float(stated[number])
    except (IndexError, ValueError):
        return 1.0
    return weight if weight >= 1 else 1.0
