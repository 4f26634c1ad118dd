"""Facts about storage: volumes, claims of volumes, and what is needed to bring the two together.

Like all facts they are plain values that can be written down. Sizes are in bytes. A claim is known by
`namespace/name`, a volume, a class and a driver by its name.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from posse.cluster.selectors import NodeTerm, Requirement, Selector

VOLUME_CLAIM = "volume"
"""The kind of claim that pods have on volumes: `namespace/name` of the PersistentVolumeClaim."""


class VolumeFact(Struct, frozen=True, gc=False, kw_only=True, tag="volume"):
    """A volume as last observed.

    `terms`: it can be reached from nodes that meet one of them; None: from everywhere. `zones`: what the labels of its
    place must be, where nodes have such labels. `claim` and `claim_uid`: whom it is kept for; empty: for nobody, and
    for whoever has the name. `driver` and `handle`: what attaching it counts as.
    """

    name: str
    uid: str = ""
    storage_class: str = ""
    attributes_class: str = ""
    size: int = 0
    modes: tuple[str, ...] = ()
    is_block: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    terms: tuple[NodeTerm, ...] | None = None
    zones: tuple[Requirement, ...] = ()
    claim: str = ""
    claim_uid: str = ""
    is_available: bool = False
    terminating: bool = False
    driver: str = ""
    handle: str = ""

    def is_kept_for(self, claim: "VolumeClaimFact") -> bool:
        """Whether this volume is a claim's, or is to be."""
        return self.claim == claim.key and self.claim_uid in ("", claim.uid)


class VolumeClaimFact(Struct, frozen=True, gc=False, kw_only=True, tag="volume-claim"):
    """A claim of a volume as last observed.

    `volume`: the volume that it has, or shall have; `is_bound`: it has it. `selected_node`: where its volume is being
    made. `owner`: the uid of its controller, which is the pod that it was made for, if it was.
    """

    namespace: str
    name: str
    uid: str = ""
    storage_class: str = ""
    attributes_class: str = ""
    size: int = 0
    modes: tuple[str, ...] = ()
    is_block: bool = False
    selector: Selector | None = None
    volume: str = ""
    is_bound: bool = False
    is_lost: bool = False
    selected_node: str = ""
    terminating: bool = False
    owner: str = ""

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"


class StorageClassFact(Struct, frozen=True, gc=False, kw_only=True, tag="storage-class"):
    """A way to come by volumes. `waits`: no volume is sought before a pod wants it. `topologies`: where volumes can be
    made; on nodes that meet all of one of them, or everywhere if there are none.
    """

    name: str
    provisioner: str = ""
    waits: bool = False
    topologies: tuple[tuple[Requirement, ...], ...] = ()


class StorageDriverFact(Struct, frozen=True, gc=False, kw_only=True, tag="storage-driver"):
    """A driver that makes volumes; whether it tells how much room it has for more."""

    name: str
    tells_capacity: bool = False


class StorageCapacityFact(Struct, frozen=True, gc=False, kw_only=True, tag="storage-capacity"):
    """How much room there is for volumes of a class that some nodes can reach; None: nobody knows.

    `largest`: the size that no volume may exceed. Without a selector no node reaches it.
    """

    namespace: str
    name: str
    storage_class: str = ""
    nodes: Selector | None = None
    capacity: int | None = None
    largest: int | None = None

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"


class AttachLimitsFact(Struct, frozen=True, gc=False, kw_only=True, tag="attach-limits"):
    """How many volumes of which drivers can be attached to a node. Drivers without a limit are left out."""

    node: str
    limits: tuple[tuple[str, int], ...] = ()


StorageFact = (
    VolumeFact | VolumeClaimFact | StorageClassFact | StorageDriverFact | StorageCapacityFact | AttachLimitsFact
)
