"""Where a pod's claims of volumes let it go: one node at a time, one volume after the other, as Kubernetes' own
scheduler does it (`VolumeBinding`: FindPodVolumes, FindMatchingVolume, checkVolumeProvisions; `VolumeZone`).

Nothing is promised to anybody here, and all claims and classes are there.
"""

from collections.abc import Iterable, Mapping, Sequence

from posse.cluster.facts import NodeFact
from posse.cluster.selectors import NodeTerm
from posse.cluster.storage import Storage
from posse.cluster.storage_facts import StorageClassFact, VolumeClaimFact, VolumeFact

TODAY = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}

Found = dict[str, str]
"""By claim, the name of its volume; empty: one is made."""


def found_on(node: NodeFact, claims: Iterable[VolumeClaimFact], storage: Storage) -> Found | None:
    """What the waiting among a pod's claims get on a node, None if the pod cannot go there."""
    every = list(claims)
    for claim in every:
        if claim.is_bound:
            volume = storage.volumes[claim.volume]
            if not _reaches(volume.terms, node) or not _is_in_zone(volume, node):
                return None
    found: Found = {}
    to_make = []
    waiting = sorted((claim for claim in every if not claim.is_bound), key=lambda each: (each.size, each.key))
    for claim in waiting:
        if claim.selected_node:
            if claim.selected_node != node.name:
                return None
            to_make.append(claim)
            continue
        match = matching(claim, storage.volumes.values(), node, set(found.values()))
        if match is None:
            to_make.append(claim)
        else:
            found[claim.key] = match.name
    wanted: dict[str, int] = {}
    for claim in sorted(to_make, key=lambda each: (each.size, each.key)):
        storage_class = storage.classes[claim.storage_class]
        before = wanted.get(storage_class.name, 0)
        if not _can_make(claim, storage_class, storage, node, before):
            return None
        wanted[storage_class.name] = before + claim.size
        found[claim.key] = ""
    return found


def matching(
    claim: VolumeClaimFact, volumes: Iterable[VolumeFact], node: NodeFact, taken: set[str]
) -> VolumeFact | None:
    """The volume that a claim gets on a node."""
    smallest: VolumeFact | None = None
    for volume in sorted(volumes, key=lambda each: (each.size, each.name)):
        if volume.name in taken or volume.storage_class != claim.storage_class:
            continue
        is_kept = volume.claim == claim.key and volume.claim_uid in ("", claim.uid)
        if volume.claim and not is_kept:
            continue
        if volume.size < claim.size or volume.is_block != claim.is_block or volume.terminating:
            continue
        if volume.attributes_class != claim.attributes_class:
            continue
        if is_kept:
            return volume if _reaches(volume.terms, node) else None
        if not volume.is_available or not _is_selected(volume, claim) or not _reaches(volume.terms, node):
            continue
        if any(mode not in volume.modes for mode in claim.modes):
            continue
        if smallest is None:
            smallest = volume
    return smallest


def _is_selected(volume: VolumeFact, claim: VolumeClaimFact) -> bool:
    return claim.selector is None or claim.selector.matches(volume.labels)


def _reaches(terms: Sequence[NodeTerm] | None, node: NodeFact) -> bool:
    """Whether a node meets one of the terms, by its labels: its name is not told."""
    return terms is None or any(term.matches("", node.labels) for term in terms)


def _is_in_zone(volume: VolumeFact, node: NodeFact) -> bool:
    if not any(key in node.labels for key in (*TODAY, *TODAY.values())):
        return True
    for zone in volume.zones:
        value = node.labels.get(zone.key, node.labels.get(TODAY.get(zone.key, zone.key)))
        if value not in zone.values:
            return False
    return True


def _can_make(
    claim: VolumeClaimFact, storage_class: StorageClassFact, storage: Storage, node: NodeFact, before: int
) -> bool:
    if storage_class.provisioner in ("", "kubernetes.io/no-provisioner"):
        return False
    terms = storage_class.topologies
    if terms and not any(term and all(each.matches(node.labels) for each in term) for term in terms):
        return False
    return _has_room(claim, storage_class, storage, node.labels, before)


def _has_room(
    claim: VolumeClaimFact, storage_class: StorageClassFact, storage: Storage, labels: Mapping[str, str], before: int
) -> bool:
    """Whether some capacity that the node reaches is large enough; what the pod wants besides counts, too."""
    driver = storage.drivers.get(storage_class.provisioner)
    if not claim.size or driver is None or not driver.tells_capacity:
        return True
    for each in storage.capacities.values():
        largest = each.largest if each.largest is not None else each.capacity
        if each.storage_class != storage_class.name or each.nodes is None or not each.nodes.matches(labels):
            continue
        is_one = largest is not None and largest >= claim.size
        if is_one and (each.capacity is None or before + claim.size <= each.capacity):
            return True
    return False
