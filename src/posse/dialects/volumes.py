"""Kubernetes' objects of storage as facts. Every dialect means the same by them."""

from collections.abc import Mapping

from posse.cluster.selectors import Requirement
from posse.cluster.storage_facts import (
    AttachLimitsFact,
    StorageCapacityFact,
    StorageClassFact,
    StorageDriverFact,
    VolumeClaimFact,
    VolumeFact,
)
from posse.dialects.selectors import node_term, selector_of
from posse.errors import Place
from posse.kube.meta import Metadata
from posse.kube.quantity import Quantity, amounts
from posse.kube.volumes import (
    CSIDriver,
    CSINode,
    CsiSource,
    CSIStorageCapacity,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologyTerm,
)

CLASS = "volume.beta.kubernetes.io/storage-class"
"""Names the class, and where it does, `storageClassName` does not count."""
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
PLACES = ("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", ZONE, REGION)
"""Labels that say where a volume is."""
SEVERAL = "__"
"""Parts the places of a volume that is in several."""


def volume_fact(volume: PersistentVolume) -> VolumeFact:
    """A volume: what it is like, from where it can be reached, and whose it is."""
    meta, spec = volume.metadata, volume.spec
    required = spec.node_affinity.required if spec.node_affinity else None
    place = Place(object=str(volume), field="spec.nodeAffinity")
    of, csi = spec.claim_ref or ObjectReference(), spec.csi or CsiSource()
    return VolumeFact(
        name=meta.name,
        uid=meta.uid,
        storage_class=meta.annotations.get(CLASS, spec.storage_class_name),
        attributes_class=spec.volume_attributes_class_name,
        size=_size(spec.capacity, str(volume), "spec.capacity"),
        modes=tuple(sorted(spec.access_modes)),
        is_block=spec.volume_mode == "Block",
        labels=meta.labels,
        terms=tuple(node_term(term, place) for term in required.node_selector_terms) if required else None,
        zones=_zones(meta),
        claim=f"{of.namespace}/{of.name}" if of.name else "",
        claim_uid=of.uid,
        is_available=volume.status.phase == "Available",
        terminating=bool(meta.deletion_timestamp),
        driver=csi.driver,
        handle=csi.volume_handle,
    )


def claim_fact(claim: PersistentVolumeClaim) -> VolumeClaimFact:
    """A claim of a volume: what it asks for, and what it has."""
    meta, spec = claim.metadata, claim.spec
    owner = claim.controller
    return VolumeClaimFact(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        storage_class=meta.annotations.get(CLASS, spec.storage_class_name),
        attributes_class=spec.volume_attributes_class_name,
        size=_size(spec.resources.requests, str(claim), "spec.resources.requests"),
        modes=tuple(sorted(spec.access_modes)),
        is_block=spec.volume_mode == "Block",
        selector=selector_of(spec.selector, Place(object=str(claim), field="spec.selector")),
        volume=spec.volume_name,
        is_bound=bool(spec.volume_name) and BIND_COMPLETED in meta.annotations,
        is_lost=claim.status.phase == "Lost",
        selected_node=meta.annotations.get(SELECTED_NODE, ""),
        terminating=bool(meta.deletion_timestamp),
        owner=owner.uid if owner else "",
    )


def class_fact(storage_class: StorageClass) -> StorageClassFact:
    """A way to come by volumes."""
    return StorageClassFact(
        name=storage_class.metadata.name,
        provisioner=storage_class.provisioner,
        waits=storage_class.volume_binding_mode == "WaitForFirstConsumer",
        topologies=tuple(_topology(term) for term in storage_class.allowed_topologies),
    )


def driver_fact(driver: CSIDriver) -> StorageDriverFact:
    """A driver."""
    return StorageDriverFact(name=driver.metadata.name, tells_capacity=driver.spec.storage_capacity)


def capacity_fact(capacity: CSIStorageCapacity) -> StorageCapacityFact:
    """How much room there is for volumes of a class, and which nodes can reach it."""
    meta = capacity.metadata
    return StorageCapacityFact(
        namespace=meta.namespace,
        name=meta.name,
        storage_class=capacity.storage_class_name,
        nodes=selector_of(capacity.node_topology, Place(object=str(capacity), field="nodeTopology")),
        capacity=_told(capacity.capacity, str(capacity), "capacity"),
        largest=_told(capacity.maximum_volume_size, str(capacity), "maximumVolumeSize"),
    )


def limits_fact(node: CSINode) -> AttachLimitsFact:
    """How many volumes can be attached to a node."""
    limits = ((driver.name, driver.allocatable.count) for driver in node.spec.drivers)
    return AttachLimitsFact(
        node=node.metadata.name, limits=tuple(sorted((name, count) for name, count in limits if count is not None))
    )


def _size(given: Mapping[str, Quantity], owner: str, where: str) -> int:
    return amounts({"storage": given["storage"]}, owner, where)["storage"] if "storage" in given else 0


def _told(given: Quantity | None, owner: str, where: str) -> int | None:
    return None if given is None else _size({"storage": given}, owner, where)


def _topology(term: TopologyTerm) -> tuple[Requirement, ...]:
    demands = (Requirement(each.key, "In", tuple(sorted(each.values))) for each in term.match_label_expressions)
    return tuple(sorted(demands, key=lambda one: (one.key, one.values)))


def _zones(meta: Metadata) -> tuple[Requirement, ...]:
    """Where a volume is, by its labels. A label that says nothing sensible says nothing."""
    found = []
    for key in PLACES:
        values = tuple(sorted({value.strip() for value in meta.labels.get(key, "").split(SEVERAL)}))
        if all(values):
            found.append(Requirement(key, "In", values))
    return tuple(found)
