"""Storage: what a world knows of volumes, claims, classes, drivers and limits. Facts in, facts out, nothing derived.

`version` rises with every change, so whoever derives something knows when to do so again.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from posse.cluster.storage_facts import (
    AttachLimitsFact,
    StorageCapacityFact,
    StorageClassFact,
    StorageDriverFact,
    StorageFact,
    VolumeClaimFact,
    VolumeFact,
)

StorageKind = Literal["volume", "volume-claim", "storage-class", "storage-driver", "storage-capacity", "attach-limits"]
KINDS: frozenset[str] = frozenset(get_args(StorageKind))


class Storage:
    """All that is known of storage, by what each thing is known by."""

    def __init__(self) -> None:
        self.volumes: dict[str, VolumeFact] = {}
        self.claims: dict[str, VolumeClaimFact] = {}
        self.classes: dict[str, StorageClassFact] = {}
        self.drivers: dict[str, StorageDriverFact] = {}
        self.capacities: dict[str, StorageCapacityFact] = {}
        self.limits: dict[str, AttachLimitsFact] = {}
        self.version = 0

    def observe(self, fact: StorageFact) -> None:
        """Take in what something is like."""
        match fact:
            case VolumeFact():
                self._put(self.volumes, fact.name, fact)
            case VolumeClaimFact():
                self._put(self.claims, fact.key, fact)
            case StorageClassFact():
                self._put(self.classes, fact.name, fact)
            case StorageDriverFact():
                self._put(self.drivers, fact.name, fact)
            case StorageCapacityFact():
                self._put(self.capacities, fact.key, fact)
            case AttachLimitsFact():
                self._put(self.limits, fact.node, fact)

    def gone(self, kind: StorageKind, key: str, uid: str) -> None:
        """Forget something, if it is what is gone: an object of the same name may have come since."""
        known = self.by_kind()[kind]
        fact = known.get(key)
        if fact is not None and uid in ("", getattr(fact, "uid", uid)):
            del known[key]
            self.version += 1

    def by_kind(self) -> Mapping[StorageKind, dict[str, Any]]:
        """Everything, by kind and key."""
        return {
            "volume": self.volumes,
            "volume-claim": self.claims,
            "storage-class": self.classes,
            "storage-driver": self.drivers,
            "storage-capacity": self.capacities,
            "attach-limits": self.limits,
        }

    def fork(self) -> "Storage":
        """An independent copy; facts are shared."""
        other = Storage()
        for kind, known in self.by_kind().items():
            other.by_kind()[kind].update(known)
        other.version = self.version
        return other

    def _put(self, known: dict[str, Any], key: str, fact: StorageFact) -> None:
        if known.get(key) != fact:
            known[key] = fact
            self.version += 1
