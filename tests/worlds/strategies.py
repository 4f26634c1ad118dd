"""Worlds for hypothesis: it chooses the seed, the size and the traits, and shrinks towards few of each."""

from hypothesis import strategies as st

from posse.cluster.facts import Fact

from .random_worlds import random_world
from .traits import EVERYTHING, SMALL, Size, Trait

seeds = st.integers(min_value=0, max_value=2**32 - 1)


def sizes(largest: Size = SMALL) -> st.SearchStrategy[Size]:
    """Sizes up to the largest."""
    return st.builds(
        Size,
        nodes=st.integers(1, largest.nodes),
        gangs=st.integers(1, largest.gangs),
        members=st.integers(1, largest.members),
        residents=st.integers(0, largest.residents),
    )


def some_of(traits: frozenset[Trait] = EVERYTHING) -> st.SearchStrategy[frozenset[Trait]]:
    """Some of the traits."""
    return st.frozensets(st.sampled_from(sorted(traits))) if traits else st.just(traits)


def worlds(largest: Size = SMALL, traits: frozenset[Trait] = EVERYTHING) -> st.SearchStrategy[list[Fact]]:
    """Worlds up to a size, with some of the traits."""
    return st.builds(random_world, seeds, sizes(largest), some_of(traits))
