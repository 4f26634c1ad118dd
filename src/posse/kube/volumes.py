"""Volumes, as far as a scheduler reads them: what is claimed, what there is, how more is made, and what nodes can bear.

A PersistentVolumeClaim asks, a PersistentVolume answers; a StorageClass says whether the answer waits for the first pod
and who can make one. A CSIDriver says whether it tells how much room it has, which CSIStorageCapacities then do, and a
CSINode how many volumes may be attached to its node.
"""

from typing import ClassVar, Literal

from msgspec import field

from posse.kube.meta import Int32, KubeObject, LabelSelector, Part
from posse.kube.pods import NodeSelector
from posse.kube.quantity import Quantity

VolumeMode = Literal["", "Filesystem", "Block"]


class ObjectReference(Part, frozen=True):
    """Another object, and which of those that ever had its name."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class CsiSource(Part, frozen=True):
    """A volume of a CSI driver, by the driver's own name for it."""

    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(Part, frozen=True):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Part, frozen=True):
    """What a volume is, and whose."""

    capacity: dict[str, Quantity] = field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    volume_mode: VolumeMode = ""
    storage_class_name: str = ""
    volume_attributes_class_name: str = ""
    claim_ref: ObjectReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiSource | None = None


class PersistentVolumeStatus(Part, frozen=True):
    """Whether a volume is to be had."""

    phase: str = ""


class PersistentVolume(KubeObject, frozen=True):
    """A volume."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "PersistentVolume"
    NAMESPACED: ClassVar[bool] = False

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class VolumeResources(Part, frozen=True):
    """How large a volume must be."""

    requests: dict[str, Quantity] = field(default_factory=dict)


class PersistentVolumeClaimSpec(Part, frozen=True):
    """What volume is wanted, and which it is once that is settled."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_name: str = ""
    volume_mode: VolumeMode = ""
    storage_class_name: str = ""
    volume_attributes_class_name: str = ""


class PersistentVolumeClaimStatus(Part, frozen=True):
    """Whether there is a volume for a claim, or no longer."""

    phase: str = ""


class PersistentVolumeClaim(KubeObject, frozen=True):
    """A claim of a volume."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "PersistentVolumeClaim"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologyRequirement(Part, frozen=True):
    """Which values a label of a node may have."""

    key: str
    values: tuple[str, ...] = ()


class TopologyTerm(Part, frozen=True):
    """Demands on a node's labels, all of which must hold."""

    match_label_expressions: tuple[TopologyRequirement, ...] = ()


class StorageClass(KubeObject, frozen=True):
    """A way to come by volumes."""

    API_VERSION: ClassVar[str] = "storage.k8s.io/v1"
    KIND: ClassVar[str] = "StorageClass"
    NAMESPACED: ClassVar[bool] = False

    provisioner: str = ""
    volume_binding_mode: Literal["", "Immediate", "WaitForFirstConsumer"] = ""
    allowed_topologies: tuple[TopologyTerm, ...] = ()


class CsiDriverSpec(Part, frozen=True):
    """What a driver can do."""

    storage_capacity: bool = False


class CSIDriver(KubeObject, frozen=True):
    """A driver of volumes."""

    API_VERSION: ClassVar[str] = "storage.k8s.io/v1"
    KIND: ClassVar[str] = "CSIDriver"
    NAMESPACED: ClassVar[bool] = False

    spec: CsiDriverSpec = CsiDriverSpec()


class CsiAllocatable(Part, frozen=True):
    """How many volumes of a driver a node can bear; None: any number."""

    count: Int32 | None = None


class CsiNodeDriver(Part, frozen=True):
    """A driver that is on a node."""

    name: str
    allocatable: CsiAllocatable = CsiAllocatable()


class CsiNodeSpec(Part, frozen=True):
    """The drivers on a node."""

    drivers: tuple[CsiNodeDriver, ...] = ()


class CSINode(KubeObject, frozen=True):
    """What the drivers on the node of the same name say of it."""

    API_VERSION: ClassVar[str] = "storage.k8s.io/v1"
    KIND: ClassVar[str] = "CSINode"
    NAMESPACED: ClassVar[bool] = False

    spec: CsiNodeSpec = CsiNodeSpec()


class CSIStorageCapacity(KubeObject, frozen=True):
    """How much room a driver has for volumes of a class that some nodes can reach. No nodes: none can."""

    API_VERSION: ClassVar[str] = "storage.k8s.io/v1"
    KIND: ClassVar[str] = "CSIStorageCapacity"

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None
