"""Pods, as far as a scheduler reads them: what they ask for, where they may go, how they stand."""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta as Bounds
from msgspec import field

from posse.kube.meta import Int32, KubeObject, LabelRequirement, LabelSelector, Part
from posse.kube.quantity import Quantity

Port = Annotated[int, Bounds(ge=0, le=65535)]
"""A port, 0: none."""
Positive = Annotated[int, Bounds(ge=1, le=2**31 - 1)]
Weight = Annotated[int, Bounds(ge=1, le=100)]
"""How welcome something is."""


class Resources(Part, frozen=True):
    """What a container or pod asks for, and what it may use at most."""

    requests: dict[str, Quantity] = field(default_factory=dict)
    limits: dict[str, Quantity] = field(default_factory=dict)


class ContainerPort(Part, frozen=True):
    """A port of a container; `host_port` 0: not on the node."""

    container_port: Port = 0
    host_port: Port = 0
    protocol: str = "TCP"
    host_ip: str = field(default="", name="hostIP")


class RestartRule(Part, frozen=True):
    """What happens when a container ends in a certain way."""

    action: str = ""


class Container(Part, frozen=True):
    """A container. An init container that restarts `Always` is a sidecar: it runs as long as the pod."""

    name: str = ""
    image: str = ""
    resources: Resources = Resources()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    restart_policy_rules: tuple[RestartRule, ...] = ()

    @property
    def is_sidecar(self) -> bool:
        """Whether this init container stays."""
        return self.restart_policy == "Always"


class NodeSelectorTerm(Part, frozen=True):
    """Demands on a node's labels and on its name, all of which must hold."""

    match_expressions: tuple[LabelRequirement, ...] = ()
    match_fields: tuple[LabelRequirement, ...] = ()


class NodeSelector(Part, frozen=True):
    """Terms, one of which must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredNodeTerm(Part, frozen=True):
    """Nodes that would be welcome."""

    weight: Weight
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Part, frozen=True):
    """Which nodes a pod needs, and which it would like."""

    required: NodeSelector | None = field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[PreferredNodeTerm, ...] = field(default=(), name="preferredDuringSchedulingIgnoredDuringExecution")


class PodAffinityTerm(Part, frozen=True):
    """Which pods are meant, and what counts as near."""

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Part, frozen=True):
    """Pods whose nearness is welcome, or not."""

    weight: Weight
    pod_affinity_term: PodAffinityTerm


class PodAffinity(Part, frozen=True):
    """Which pods a pod wants near, or far."""

    required: tuple[PodAffinityTerm, ...] = field(default=(), name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[WeightedPodAffinityTerm, ...] = field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Part, frozen=True):
    """All that draws a pod to nodes and pods, and away from them."""

    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class PodToleration(Part, frozen=True):
    """Which taints a pod bears."""

    key: str = ""
    operator: Literal["", "Equal", "Exists", "Gt", "Lt"] = ""
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""


class TopologySpreadConstraint(Part, frozen=True):
    """How evenly pods lie over the values of a topology key."""

    topology_key: str
    max_skew: Positive
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    label_selector: LabelSelector | None = None
    min_domains: Positive | None = None
    node_affinity_policy: Literal["", "Honor", "Ignore"] = ""
    node_taints_policy: Literal["", "Honor", "Ignore"] = ""
    match_label_keys: tuple[str, ...] = ()


class ClaimSource(Part, frozen=True):
    """The claim behind a volume."""

    claim_name: str = ""


class EphemeralSource(Part, frozen=True):
    """A volume whose claim is made for the pod."""


class Volume(Part, frozen=True):
    """A volume. Only those backed by a claim say anything about nodes."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None


class PodResourceClaim(Part, frozen=True):
    """A device claim of a pod: an existing one, or one made from a template."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class SchedulingGate(Part, frozen=True):
    """Something that must be lifted before a pod may be placed."""

    name: str = ""


class PodSpec(Part, frozen=True):
    """What a pod wants."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: Resources = Resources()
    overhead: dict[str, Quantity] = field(default_factory=dict)
    runtime_class_name: str = ""
    node_name: str = ""
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: Affinity = Affinity()
    tolerations: tuple[PodToleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    host_network: bool = False
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    scheduling_group: dict[str, Any] | None = None
    workload_ref: dict[str, Any] | None = None
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: Literal["", "Never", "PreemptLowerPriority"] = ""


class Condition(Part, frozen=True):
    """One thing that is, or is not, the case."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""


class ContainerStatus(Part, frozen=True):
    """What a container was given: `resources` is what it has, `allocated_resources` what the node set aside."""

    name: str = ""
    resources: Resources | None = None
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)


class ResourceClaimStatus(Part, frozen=True):
    """The claim that was made for one of the pod's claims."""

    name: str = ""
    resource_claim_name: str = ""


class PodStatus(Part, frozen=True):
    """How a pod stands."""

    phase: Literal["", "Pending", "Running", "Succeeded", "Failed", "Unknown"] = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[ResourceClaimStatus, ...] = ()
    resize: str = ""


class Pod(KubeObject, frozen=True):
    """A pod."""

    API_VERSION: ClassVar[str] = "v1"
    KIND: ClassVar[str] = "Pod"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    def condition(self, kind: str) -> Condition | None:
        """The condition of a type, if the pod has it."""
        return next((condition for condition in self.status.conditions if condition.type == kind), None)
