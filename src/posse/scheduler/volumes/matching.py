"""Matching: which of the volumes that there are a claim would get, on every node at once.

A volume that is kept for the claim is the one, and no other. Else it is the smallest that will do: free, of the class,
large enough, of the mode, with all ways of access, with the labels that the claim selects, and within the node's reach.
Of equally small ones it is the first by name.

Volumes are numbered from the smallest up, so the best is the lowest number. Most that are alike can be reached from the
same nodes; of those only the first few can be the best anywhere.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.selectors import NodeTerm
from posse.cluster.storage import Storage
from posse.cluster.storage_facts import VolumeClaimFact, VolumeFact
from posse.scheduler.volumes.reaching import Reach

Numbers = NDArray[np.int64]

NONE = np.iinfo(np.int64).max
"""No volume."""


class Matching:
    """The volumes that claims could get in one world, as they stand."""

    def __init__(self, storage: Storage, reach: Reach) -> None:
        self._storage, self._reach = storage, reach
        self.volumes: list[VolumeFact] = sorted(
            (each for each in storage.volumes.values() if _is_to_be_had(each, storage)),
            key=lambda each: (each.size, each.name),
        )
        self._numbers = {volume.name: number for number, volume in enumerate(self.volumes)}
        self._kept_for: dict[str, list[int]] = {}
        for number, volume in enumerate(self.volumes):
            if volume.claim:
                self._kept_for.setdefault(volume.claim, []).append(number)
        self._groups, terms = _grouped(self.volumes)
        rows = [np.flatnonzero(reach.of_terms(each)) for each in terms]
        self._rows = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        """The nodes that reach the volumes of each group, one group after the other."""
        self._counts = np.array([len(each) for each in rows], np.int64)
        self._begins = np.cumsum(self._counts) - self._counts
        self._fits: dict[Hashable, Numbers] = {}

    def best(self, claim: VolumeClaimFact, taken: set[str], before: Sequence[Numbers]) -> Numbers:
        """The number of the volume that a claim would get on each node row, or `NONE`.

        `taken` are promised to other claims; `before`: what other claims of the same pod would get on each node.
        """
        kept = self._kept(claim)
        if kept >= 0:
            return self.only(self.volumes[kept].name)
        fits = self._fitting(claim)
        if taken:
            gone = [self._numbers[name] for name in taken if name in self._numbers]
            fits = fits[~np.isin(fits, gone)]
        return self._lowest(fits, before)

    def only(self, name: str) -> Numbers:
        """This volume, wherever it can be reached."""
        number = self._numbers.get(name, -1)
        found = self._nowhere()
        if number >= 0:
            found[self._reach.of(self.volumes[number])] = number
        return found

    def _kept(self, claim: VolumeClaimFact) -> int:
        """The number of the volume that is kept for a claim, -1 without."""
        kept = self._kept_for.get(claim.key, ())
        return next((number for number in kept if _will_do(self.volumes[number], claim)), -1)

    def _fitting(self, claim: VolumeClaimFact) -> Numbers:
        """The free volumes that would do for a claim, as far as it does not matter where."""
        key = (
            claim.storage_class,
            claim.attributes_class,
            claim.size,
            claim.modes,
            claim.is_block,
            claim.selector,
        )
        found = self._fits.get(key)
        if found is None:
            fits = [number for number, volume in enumerate(self.volumes) if _fits(volume, claim)]
            found = self._fits[key] = np.array(fits, np.int64)
        return found

    def _lowest(self, fits: Numbers, before: Sequence[Numbers]) -> Numbers:
        """The lowest number on each node that no other claim of the pod would get there."""
        found = self._nowhere()
        if not len(fits):
            return found
        few = fits[_first_of_each(self._groups[fits], 1 + len(before))]
        begins, counts = self._begins[self._groups[few]], self._counts[self._groups[few]]
        numbers = np.repeat(few, counts)
        nodes = self._rows[np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(len(numbers))]
        fine = np.ones(len(nodes), np.bool_)
        for theirs in before:
            fine &= theirs[nodes] != numbers
        np.minimum.at(found, nodes[fine], numbers[fine])
        return found

    def _nowhere(self) -> Numbers:
        return np.full(len(self._reach.everywhere()), NONE, np.int64)


def _grouped(volumes: Sequence[VolumeFact]) -> tuple[Numbers, list[tuple[NodeTerm, ...] | None]]:
    """Volumes by the nodes from which they can be reached: the group of each, and the terms of each group."""
    known: dict[tuple[NodeTerm, ...] | None, int] = {}
    groups = [known.setdefault(volume.terms, len(known)) for volume in volumes]
    return np.array(groups, np.int64), list(known)


def _first_of_each(groups: Numbers, count: int) -> NDArray[np.intp]:
    """Where the first few of each group stand."""
    order = np.argsort(groups, kind="stable")
    begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    first: NDArray[np.intp] = np.sort(order[place < count])
    return first


def _is_to_be_had(volume: VolumeFact, storage: Storage) -> bool:
    """Whether any claim could still get a volume."""
    if volume.terminating:
        return False
    if not volume.claim:
        return volume.is_available
    claim = storage.claims.get(volume.claim)
    return claim is not None and not claim.volume and volume.is_kept_for(claim)


def _will_do(volume: VolumeFact, claim: VolumeClaimFact) -> bool:
    """Whether a volume is large enough and of the right sort."""
    return (
        volume.size >= claim.size
        and volume.is_block == claim.is_block
        and volume.attributes_class == claim.attributes_class
        and volume.storage_class == claim.storage_class
    )


def _fits(volume: VolumeFact, claim: VolumeClaimFact) -> bool:
    """Whether a volume that is kept for nobody would do."""
    return (
        not volume.claim
        and _will_do(volume, claim)
        and set(claim.modes) <= set(volume.modes)
        and (claim.selector is None or claim.selector.matches(volume.labels))
    )
