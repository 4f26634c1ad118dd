"""Pod terms: which pods a term means, and how many of them lie on each node.

Terms are asked from two sides. A term of the pod that wants a place means pods that lie somewhere
(`Namespaces.choice`, `PodCounts`). And the terms of pods that lie somewhere may mean the pod that wants a place
(`LyingTerms`): each distinct term is asked once per kin, and the pods that bring it are counted by their shapes.
Terms are values: however many gangs have equal ones, there is one count.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import NO_LABELS, NamespaceFact, PodTerm, Shape
from posse.cluster.headcount import Headcount
from posse.cluster.kin import PodChoice, Selection
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

    def catch_up(self) -> int:
        """Learn which namespaces there are now. The number rises when one came, went or changed."""
        if self._seen != self._world.people_version:
            self._seen = self._world.people_version
            if self._known != self._world.namespaces:
                self._known = dict(self._world.namespaces)
                self._version += 1
                self._choices.clear()
        return self._version

    def choice(self, term: PodTerm) -> PodChoice:
        """The pods that a term of an incoming pod means.

        A namespace selector means the namespaces that are known to have such labels.
        """
        self.catch_up()
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

    def choice_of_lying(self, term: PodTerm) -> PodChoice:
        """The pods that a term of a pod that lies somewhere means. A namespace that is not known has no labels."""
        self.catch_up()
        selector = term.namespace_selector
        if selector is None or not selector.requirements:
            return self.choice(term)
        chosen = {name for name in self._world.kin.namespaces() if selector.matches(self._labels(name))}
        return PodChoice(term.selector, tuple(sorted(chosen.union(term.namespaces))))

    def _labels(self, name: str) -> Mapping[str, str]:
        known = self._known.get(name)
        return known.labels if known is not None else NO_LABELS


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

    def __init__(
        self, world: World, namespaces: Namespaces, counts: PodCounts, read: Callable[[Shape], Iterable[Voice]]
    ) -> None:
        self._world, self._namespaces, self._counts, self._read = world, namespaces, counts, read
        self._shapes_read = 0
        self._bearers: dict[Voice, dict[int, int]] = {}
        self._selections: list[tuple[Voice, Selection]] = []
        self._meaning: dict[int, tuple[int, list[Voice]]] = {}
        self._meant = np.zeros(0, np.bool_)
        self._stamp = (-1, 0)

    def meaning(self, kin: int) -> list[Voice]:
        """The terms that mean pods of one kin (its row), whether or not anybody who has them lies somewhere."""
        self._catch_up()
        asked, found = self._meaning.get(kin, (0, []))
        if asked < len(self._selections):
            register = self._world.kin
            found += [voice for voice, selection in self._selections[asked:] if selection.among(register)[kin]]
            self._meaning[kin] = len(self._selections), found
        return found

    def mean_any(self, tasks: NDArray[np.int32]) -> bool:
        """Whether any term means any of these tasks."""
        self._catch_up()
        return bool(self._meant[self._world.columns.ledger.task_kin[tasks]].any())

    def bearers(self, voice: Voice) -> Counts:
        """How often each node has a term, by the pods on it."""
        shapes = self._bearers[voice]

        def weights(world: World) -> Counts:
            times = np.zeros(len(world.shapes), np.int64)
            times[list(shapes)] = list(shapes.values())
            return times

        return self._counts.by_shape(voice, weights)

    def _catch_up(self) -> None:
        """Read new shapes, ask about new kin. A namespace that changed, or is met for the first time, makes all new."""
        register = self._world.kin
        stamp = (self._namespaces.catch_up(), len(register.namespaces()))
        if stamp != self._stamp:
            self._stamp, self._selections, self._meant = stamp, [], np.zeros(0, np.bool_)
            self._meaning.clear()
            self._listen_to(self._bearers)
        self._listen_to(self._new_voices())
        seen, rows = len(self._meant), len(register.all)
        if seen < rows:
            new = np.zeros(rows - seen, np.bool_)
            for _, selection in self._selections:
                new |= selection.among(register)[seen:]
            self._meant = np.concatenate([self._meant, new])

    def _listen_to(self, voices: Iterable[Voice]) -> None:
        for voice in voices:
            selection = Selection(self._namespaces.choice_of_lying(voice[0]))
            self._selections.append((voice, selection))
            self._meant |= selection.among(self._world.kin)[: len(self._meant)]

    def _new_voices(self) -> list[Voice]:
        """The terms that were not met before, from shapes that are new."""
        shapes, new = self._world.shapes, []
        for row in range(self._shapes_read, len(shapes)):
            for voice in self._read(shapes[row]):
                if voice not in self._bearers:
                    self._bearers[voice] = {}
                    new.append(voice)
                bearers = self._bearers[voice]
                bearers[row] = bearers.get(row, 0) + 1
        self._shapes_read = len(shapes)
        return new
