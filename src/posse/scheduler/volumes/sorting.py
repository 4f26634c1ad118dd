"""Sorting: what each of a pod's claims stands at, before any node is looked at.

A claim has its volume, or waits for the first pod that wants it, or is not ready: then the pod waits, for the reason
that is told, and no node would help. A strict sorter wants everything to be there. Another one takes what it is not
told of, and what others have to do, for done: so in a simulation of files that hold no volumes nobody waits for any.
"""

from msgspec import Struct

from posse.cluster.facts import ClaimReference
from posse.cluster.storage import Storage
from posse.cluster.storage_facts import StorageClassFact, VolumeClaimFact, VolumeFact
from posse.scheduler.volumes.making import NO_PROVISIONER

SINGLE_POD = "ReadWriteOncePod"


class Having(Struct, frozen=True):
    """A claim that has its volume."""

    claim: VolumeClaimFact
    volume: VolumeFact


class Waiting(Struct, frozen=True):
    """A claim that waits for the first pod that wants it."""

    claim: VolumeClaimFact
    storage_class: StorageClassFact


class NotReady(Struct, frozen=True):
    """A claim for which its pod has to wait, and why."""

    why: str


Standing = Having | Waiting | NotReady


def standing(reference: ClaimReference, pod_uid: str, storage: Storage, *, strict: bool) -> Standing | None:
    """How a claim stands; None: there is nothing to heed."""
    claim = storage.claims.get(reference.name)
    if claim is None:
        missing = f"volume claim {reference.name} is not {'made yet' if reference.is_own else 'there'}"
        return NotReady(missing) if strict else None
    why = _fault(claim, reference, pod_uid)
    if why:
        return NotReady(f"volume claim {claim.key} {why}")
    if not claim.is_bound:
        return _unbound(claim, storage, strict=strict)
    volume = storage.volumes.get(claim.volume)
    if volume is not None:
        return Having(claim, volume)
    return NotReady(f"volume {claim.volume} of claim {claim.key} is not there") if strict else None


def _fault(claim: VolumeClaimFact, reference: ClaimReference, pod_uid: str) -> str:
    """What makes a claim of no use to a pod."""
    if claim.is_lost:
        return f"has lost its volume {claim.volume}"
    if claim.terminating:
        return "is being deleted"
    if reference.is_own and claim.owner != pod_uid:
        return "was not made for this pod"
    return ""


def _unbound(claim: VolumeClaimFact, storage: Storage, *, strict: bool) -> Standing | None:
    """A claim without a volume; one that names the volume that it is to have is for others to bind."""
    storage_class = storage.classes.get(claim.storage_class)
    if claim.storage_class and storage_class is None and not claim.volume:
        missing = f"storage class {claim.storage_class} of volume claim {claim.key} is not there"
        return NotReady(missing) if strict else None
    if storage_class is not None and storage_class.waits and not claim.volume:
        return Waiting(claim, storage_class) if strict or _could_be_served(storage_class, storage) else None
    return NotReady(f"volume claim {claim.key} is not bound yet") if strict else None


def _could_be_served(storage_class: StorageClassFact, storage: Storage) -> bool:
    """Whether anything is told of how claims of a class come by volumes."""
    is_made = storage_class.provisioner not in NO_PROVISIONER
    return is_made or any(volume.storage_class == storage_class.name for volume in storage.volumes.values())
