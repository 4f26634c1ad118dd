"""Pod terms: which pods a term means, and how many of them lie on each node.

Terms are asked from two sides. A term of the pod that wants a place means pods that lie somewhere (`Namespaces.choice`, `PodCounts`). And the
terms of pods that lie somewhere may mean the pod that wants a place (`LyingTerms`): each distinct term is asked once per kin, and the pods that
bring it are counted by their shapes. Terms are values: however many gangs have equal ones, there is one count.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import NO_LABELS, NamespaceFact, PodTerm, Shape
from posse.cluster.headcount import Headcount
from posse.cluster.kin import Kin, PodChoice, Selection
from posse.cluster.world import World

Counts = NDArray[np.int64]
Voice = tuple[PodTerm, int]
"""A term of pods that lie somewhere, and how much it counts for."""

COUNTS_KEPT = 1024
"""So many headcounts are followed; the one not asked for the longest time goes first."""


class Namespaces:
    """The namespaces of one world, as terms see them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: Mapping[str, NamespaceFact] = {}
        self._seen = -1
        self._version = 0
        self._choices: dict[PodTerm, PodChoice] = {}

    @property
    def version(self) -> int:
        """Rises when a namespace comes, goes or changes."""
        if self._seen != self._world.people_version:
            self._seen = self._world.people_version
            if self._known != self._world.namespaces:
                self._known = dict(self._world.namespaces)
                self._version += 1
                self._choices.clear()
        return self._version

    def choice(self, term: PodTerm) -> PodChoice:
        """The pods that a term of an incoming pod means: a namespace selector means the namespaces known to have such labels."""
        assert self.version >= 0
        choice = self._choices.get(term)
        if choice is None:
            choice = self._choices[term] = PodChoice(term.selector, self._names(term))
        return choice

    def _names(self, term: PodTerm) -> tuple[str, ...] | None:
        selector = term.namespace_selector
        if selector is None:
            return term.namespaces
        if not selector.requirements:
            return None
        chosen = {name for name, fact in self._known.items() if selector.matches(fact.labels)}
        return tuple(sorted(chosen.union(term.namespaces)))

    def means(self, term: PodTerm, kin: Kin) -> bool:
        """Whether a term of a pod that lies somewhere means pods of one kin. A namespace that is not known has no labels."""
        if term.selector is None or not term.selector.matches(kin.labels):
            return False
        known = self._known.get(kin.namespace)
        labels = known.labels if known is not None else NO_LABELS
        selector = term.namespace_selector
        return kin.namespace in term.namespaces or (selector is not None and selector.matches(labels))


class PodCounts:
    """Pods per node row, of every sort that is asked for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept: dict[Hashable, Headcount] = {}

    def chosen(self, *choices: PodChoice, with_terminating: bool = True) -> Counts:
        """The pods that all of the choices take."""

        def make() -> Headcount:
            selection = Selection(*choices)
            return Headcount("kin", lambda world: selection.among(world.kin), with_terminating=with_terminating)

        return self._count((choices, with_terminating), make)

    def by_shape(self, key: Hashable, weights: Callable[[World], Counts]) -> Counts:
        """The pods whose shapes have a weight, as much as it says."""
        return self._count(key, lambda: Headcount("shape", weights))

    def _count(self, key: Hashable, make: Callable[[], Headcount]) -> Counts:
        count = self._kept.pop(key, None) or make()
        self._kept[key] = count
        if len(self._kept) > COUNTS_KEPT:
            del self._kept[next(iter(self._kept))]
        return count.per_node(self._world)


class LyingTerms:
    """Terms of one sort that pods bring with them wherever they lie."""

    def __init__(self, world: World, namespaces: Namespaces, counts: PodCounts, read: Callable[[Shape], Iterable[Voice]]) -> None:
        self._world, self._namespaces, self._counts, self._read = world, namespaces, counts, read
        self._shapes_read = 0
        self._bearers: dict[Voice, dict[int, int]] = {}
        self._voices: list[Voice] = []
        self._meaning: dict[int, tuple[int, list[Voice]]] = {}
        self._version = -1

    def meaning(self, kin: int) -> list[Voice]:
        """The terms that mean pods of one kin (its row), whether or not anybody who has them lies somewhere."""
        self._read_shapes()
        if self._version != self._namespaces.version:
            self._version = self._namespaces.version
            self._meaning.clear()
        asked, found = self._meaning.get(kin, (0, []))
        if asked < len(self._voices):
            who = self._world.kin.all[kin]
            found += [voice for voice in self._voices[asked:] if self._namespaces.means(voice[0], who)]
            self._meaning[kin] = len(self._voices), found
        return found

    def bearers(self, voice: Voice) -> Counts:
        """How often each node has a term, by the pods on it."""
        shapes = self._bearers[voice]

        def weights(world: World) -> Counts:
            times = np.zeros(len(world.shapes), np.int64)
            times[list(shapes)] = list(shapes.values())
            return times

        return self._counts.by_shape(voice, weights)

    def _read_shapes(self) -> None:
        shapes = self._world.shapes
        for row in range(self._shapes_read, len(shapes)):
            for voice in self._read(shapes[row]):
                if voice not in self._bearers:
                    self._bearers[voice] = {}
                    self._voices.append(voice)
                bearers = self._bearers[voice]
                bearers[row] = bearers.get(row, 0) + 1
        self._shapes_read = len(shapes)
