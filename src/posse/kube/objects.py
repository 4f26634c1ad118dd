"""The kinds we read, one class each, and the table that finds the class of a manifest.

Pods have a file of their own (`pods`), and so have workloads (`workloads`) and storage (`volumes`). A kind that has no
class here is kept as `OtherObject`: it may still be someone's owner.
"""

from typing import ClassVar, Literal

from msgspec import field

from posse.kube.meta import Int32, Int64, KubeObject, LabelSelector, Metadata, Part, group_of
from posse.kube.pods import Condition, Pod
from posse.kube.quantity import Quantity
from posse.kube.volumes import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from posse.kube.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    NetworkTopology,
    ReplicaSet,
    StatefulSet,
    VolcanoJob,
)

SCHEDULING_VOLCANO = "scheduling.volcano.sh/v1beta1"

Quantities = dict[str, Quantity]


class NodeTaint(Part, frozen=True):
    """What a node puts in the way of pods that do not tolerate it."""

    key: str
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    value: str = ""


class NodeSpec(Part, frozen=True):
    """What was decided about a node."""

    taints: tuple[NodeTaint, ...] = ()
    unschedulable: bool = False


class ContainerImage(Part, frozen=True):
    """An image that a node has."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeStatus(Part, frozen=True):
    """What a node has to give."""

    capacity: Quantities = field(default_factory=dict)
    allocatable: Quantities = field(default_factory=dict)
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


class Node(KubeObject, frozen=True):
    """A node."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "Node"
    NAMESPACED: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(KubeObject, frozen=True):
    """A namespace."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "Namespace"
    NAMESPACED: ClassVar[bool] = False


class PriorityClass(KubeObject, frozen=True):
    """A name for a priority."""

    API_VERSION: ClassVar[str] = "scheduling.k8s.io/v1"
    KIND: ClassVar[str] = "PriorityClass"
    NAMESPACED: ClassVar[bool] = False

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: Literal["", "Never", "PreemptLowerPriority"] = ""


class ResourceQuotaSpec(Part, frozen=True):
    """What a namespace may use."""

    hard: Quantities = field(default_factory=dict)


class ResourceQuotaStatus(Part, frozen=True):
    """What a namespace may use, and does."""

    hard: Quantities = field(default_factory=dict)
    used: Quantities = field(default_factory=dict)


class ResourceQuota(KubeObject, frozen=True):
    """A quota of a namespace. A status of None was never computed."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "ResourceQuota"

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus | None = None


class LimitRangeItem(Part, frozen=True):
    """Defaults and bounds for one type of thing."""

    type: str
    default: Quantities = field(default_factory=dict)
    default_request: Quantities = field(default_factory=dict)
    min: Quantities = field(default_factory=dict)
    max: Quantities = field(default_factory=dict)


class LimitRangeSpec(Part, frozen=True):
    """Defaults and bounds by type of thing."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubeObject, frozen=True):
    """Defaults for the containers of a namespace."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "LimitRange"

    spec: LimitRangeSpec = LimitRangeSpec()


class Overhead(Part, frozen=True):
    """What a runtime needs on top of the containers."""

    pod_fixed: Quantities = field(default_factory=dict)


class RuntimeScheduling(Part, frozen=True):
    """Which nodes a runtime is on."""

    node_selector: dict[str, str] = field(default_factory=dict)


class RuntimeClass(KubeObject, frozen=True):
    """A way to run containers."""

    API_VERSION: ClassVar[str] = "node.k8s.io/v1"
    KIND: ClassVar[str] = "RuntimeClass"
    NAMESPACED: ClassVar[bool] = False

    overhead: Overhead = Overhead()
    scheduling: RuntimeScheduling = RuntimeScheduling()


class PodDisruptionBudgetSpec(Part, frozen=True):
    """How many of which pods must stay."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class PodDisruptionBudgetStatus(Part, frozen=True):
    """How many of them may go now."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)


class PodDisruptionBudget(KubeObject, frozen=True):
    """A budget of disruptions. A status of None was never computed."""

    API_VERSION: ClassVar[str] = "policy/v1"
    KIND: ClassVar[str] = "PodDisruptionBudget"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus | None = None


class SubGroupPolicy(Part, frozen=True):
    """How a group falls into sub-groups."""

    name: str = ""
    sub_group_size: Int32 = 1
    min_sub_groups: Int32 = 0
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    network_topology: NetworkTopology | None = None


class PodGroupSpec(Part, frozen=True):
    """What a group of pods needs to start."""

    min_member: Int32 = 0
    min_task_member: dict[str, Int32] = field(default_factory=dict)
    queue: str = ""
    priority_class_name: str = ""
    min_resources: Quantities | None = None
    sub_group_policy: tuple[SubGroupPolicy, ...] = ()
    network_topology: NetworkTopology | None = None


class PodGroupStatus(Part, frozen=True):
    """How a group stands."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0


class PodGroup(KubeObject, frozen=True):
    """A gang, as Volcano declares it."""

    API_VERSION: ClassVar[str] = SCHEDULING_VOLCANO
    KIND: ClassVar[str] = "PodGroup"

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class Guarantee(Part, frozen=True):
    """What is kept free for a queue."""

    resource: Quantities = field(default_factory=dict)


class NodeGroups(Part, frozen=True):
    """Groups of nodes, needed or welcome."""

    required: tuple[str, ...] = field(default=(), name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[str, ...] = field(default=(), name="preferredDuringSchedulingIgnoredDuringExecution")


class QueueAffinity(Part, frozen=True):
    """Which groups of nodes a queue uses, and which it avoids."""

    node_group_affinity: NodeGroups = NodeGroups()
    node_group_anti_affinity: NodeGroups = NodeGroups()


class QueueSpec(Part, frozen=True):
    """What a queue may have, and how it competes."""

    weight: Int32 = 1
    priority: Int32 = 0
    parent: str = ""
    reclaimable: bool | None = None
    capability: Quantities = field(default_factory=dict)
    deserved: Quantities = field(default_factory=dict)
    guarantee: Guarantee = Guarantee()
    affinity: QueueAffinity | None = None


class QueueStatus(Part, frozen=True):
    """Whether a queue is open."""

    state: str = ""
    allocated: Quantities = field(default_factory=dict)


class Queue(KubeObject, frozen=True):
    """A queue, as Volcano declares it."""

    API_VERSION: ClassVar[str] = SCHEDULING_VOLCANO
    KIND: ClassVar[str] = "Queue"
    NAMESPACED: ClassVar[bool] = False

    spec: QueueSpec = QueueSpec()
    status: QueueStatus = QueueStatus()


class OtherObject(KubeObject, frozen=True):
    """An object of a kind that we do not read."""

    of_version: str = field(default="", name="apiVersion")
    of_kind: str = field(default="", name="kind")

    @property
    def api_version(self) -> str:
        """The API version it speaks."""
        return self.of_version

    @property
    def kind_name(self) -> str:
        """Its kind."""
        return self.of_kind


_READ: tuple[type[KubeObject], ...] = (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    LimitRange,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    Queue,
    ReplicaSet,
    ResourceQuota,
    RuntimeClass,
    StatefulSet,
    StorageClass,
    VolcanoJob,
)

KINDS = {(group_of(kind.API_VERSION), kind.KIND): kind for kind in _READ}
"""API group and kind, to the class. The version is not looked at: what we read is the same in all that are served."""


def class_of(api_version: str, kind: str) -> type[KubeObject]:
    """The class of a kind; `OtherObject` for one that we do not read."""
    return KINDS.get((group_of(api_version), kind), OtherObject)


__all__ = [
    "KINDS",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "KubeObject",
    "LimitRange",
    "Metadata",
    "Namespace",
    "Node",
    "OtherObject",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PodGroup",
    "PriorityClass",
    "Queue",
    "ReplicaSet",
    "ResourceQuota",
    "RuntimeClass",
    "StatefulSet",
    "StorageClass",
    "VolcanoJob",
    "class_of",
]
