"""Promised: which volumes are to go to which claims, and where volumes are to be made, decided and not seen yet.

A promise to a claim is shared by all pods that use it, and ends when the last of them gives it back, or when the claim
is seen with a volume: then what is seen counts.
"""

from msgspec import Struct, structs

from posse.cluster.storage import Storage
from posse.cluster.storage_facts import VolumeClaimFact
from posse.cluster.world import World
from posse.scheduler.volumes.making import Ordered


class Promise(Struct, frozen=True):
    """What a claim is to have: a volume, or one that is made at a node; and how many pods count on it."""

    claim_uid: str
    storage_class: str
    size: int
    volume: str = ""
    volume_uid: str = ""
    node: str = ""
    pods: int = 0


class Promised:
    """All promises, by claim."""

    def __init__(self) -> None:
        self._of: dict[str, Promise] = {}
        self._settled = -1

    def get(self, claim: str) -> Promise | None:
        """What a claim is to have."""
        return self._of.get(claim)

    def volume_of(self, claim: VolumeClaimFact) -> str:
        """The volume that a claim is to have."""
        promise = self._mine(claim)
        return promise.volume if promise is not None else ""

    def node_of(self, claim: VolumeClaimFact) -> str:
        """The node at which a volume is to be made for a claim."""
        promise = self._mine(claim)
        return promise.node if promise is not None else ""

    def volumes(self) -> set[str]:
        """The volumes that are promised to anybody."""
        return {promise.volume for promise in self._of.values() if promise.volume}

    def ordered(self, world: World, *, but: VolumeClaimFact) -> list[Ordered]:
        """The volumes that are to be made for other claims."""
        return [
            Ordered(promise.storage_class, world.nodes.find(promise.node), promise.size)
            for claim, promise in self._of.items()
            if promise.node and claim != but.key
        ]

    def count(self, claim: str, promise: Promise, pods: int) -> None:
        """Let so many more pods (or fewer) count on a promise."""
        counted = self._of.get(claim, structs.replace(promise, pods=0))
        total = counted.pods + pods
        if total > 0:
            self._of[claim] = structs.replace(counted, pods=total)
        else:
            self._of.pop(claim, None)

    def settle(self, storage: Storage) -> None:
        """Forget promises to claims that have been seen with a volume, or are gone."""
        if self._settled == storage.version:
            return
        self._settled = storage.version
        for key, promise in list(self._of.items()):
            claim = storage.claims.get(key)
            if claim is None or claim.uid != promise.claim_uid or claim.volume:
                del self._of[key]

    def portrait(self) -> dict[str, Promise]:
        """All promises, by claim."""
        return dict(self._of)

    def fork(self) -> "Promised":
        """An independent copy."""
        other = Promised()
        other._of, other._settled = dict(self._of), self._settled
        return other

    def _mine(self, claim: VolumeClaimFact) -> Promise | None:
        promise = self._of.get(claim.key)
        return promise if promise is not None and promise.claim_uid == claim.uid else None
