"""Why Posse, in its own mode, decides otherwise than the recorded peer: the named switches that make the difference.

A world that comes out differently under `compatibility: posse` is explained by the smallest set of switches that,
turned to upstream's side one by one in the configuration, make the difference vanish. Smallest is proven, not
guessed: every smaller set was run. Dropping what is not needed from the full set first gives a set that works, and
so a bound on the size that has to be tried. What upstream's mode gets wrong itself is no difference of the modes
and is left aside.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from compare import Fact

Trial = Callable[[Collection[str]], Collection[Fact]]
"""Runs a world in Posse's mode with these switches on upstream's side, and gives what is then wrong."""

Mark = tuple[str, str]
"""Field and place of a fact."""


@dataclass(frozen=True)
class Explanation:
    """What a world's difference comes from: switches, or None where no set of them explains it."""

    world: str
    family: str
    differing: tuple[Fact, ...]
    switches: tuple[str, ...] | None


def marks(facts: Collection[Fact]) -> frozenset[Mark]:
    """Reduce facts to where they stand."""
    return frozenset((fact.field, fact.where) for fact in facts)


def smallest(trial: Trial, switches: Sequence[str], accepted: frozenset[Mark]) -> tuple[str, ...] | None:
    """Find the smallest set of switches that leaves nothing wrong but what is accepted; None if all do not help."""

    def enough(chosen: Collection[str]) -> bool:
        return marks(trial(chosen)) <= accepted

    if not enough(switches):
        return None
    bound = needed(enough, switches)
    smaller = chain.from_iterable(combinations(switches, size) for size in range(len(bound)))
    return next((chosen for chosen in smaller if enough(chosen)), bound)


def needed(enough: Callable[[Collection[str]], bool], switches: Sequence[str]) -> tuple[str, ...]:
    """Drop switches one by one as long as the rest is enough."""
    kept = tuple(switches)
    for switch in switches:
        rest = tuple(each for each in kept if each != switch)
        if enough(rest):
            kept = rest
    return kept
