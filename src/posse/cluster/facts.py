"""Facts: what the cluster says about itself, as small immutable values.

A fact is what a dialect makes of one API object. It never changes: a new observation is a new fact. All that moves
while the scheduler works (status, node, counters, reservations) is in the columns of `World`, under the fact's row
number.

Facts are compared, hashed, written down and read back (a flight recording is a list of them), so they hold only plain
values: strings, integers, tuples, string maps. Amounts are exact integers in the model's units: cpu and extended
resources in milli, whatever is measured in bytes in bytes, pods in pods. Times are nanoseconds since the epoch, 0
unknown.

A `Shape` is everything about a pod that decides where it may go, and nothing that tells it from its siblings: a
thousand workers of one job share one shape, and feasibility and scores are computed for the shape, not for the pod.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.cluster.storage import StorageKind
from posse.cluster.storage_facts import StorageFact

Amounts = tuple[tuple[str, int], ...]
"""Resource name and amount in model units, sorted by name."""

NO_LABELS: Mapping[str, str] = {}

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Taint(Struct, frozen=True, gc=False):
    """What a node puts in the way of pods that do not tolerate it."""

    key: str
    value: str = ""
    effect: Effect = "NoSchedule"

    def __str__(self) -> str:
        """The taint as kubectl writes it."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Toleration(Struct, frozen=True, gc=False):
    """Which taints a pod bears. Empty key with `Exists`: all of them; empty effect: all effects."""

    key: str = ""
    operator: Literal["Equal", "Exists", "Gt", "Lt"] = "Equal"
    value: str = ""
    effect: str = ""


class Port(Struct, frozen=True, gc=False):
    """A port that a pod takes on its node. Address 0.0.0.0 is every address."""

    port: int
    protocol: str = "TCP"
    address: str = "0.0.0.0"


class PreferredNodes(Struct, frozen=True, gc=False):
    """Nodes a pod would rather be on, and how much."""

    weight: int
    term: NodeTerm


class PodTerm(Struct, frozen=True, gc=False):
    """Pods a pod wants to be near, or not near: selected by labels and namespaces, near means the same topology value.

    `namespaces` are names; with `namespace_selector` those whose labels match it are meant too. A dialect fills in the
    pod's own namespace where Kubernetes means it. A missing selector (None) matches no pod. `weight` 0: required.
    """

    topology_key: str
    selector: Selector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: Selector | None = None
    weight: int = 0


class Spread(Struct, frozen=True, gc=False):
    """How evenly a pod's kind must (or should) lie over the values of a topology key.

    The selector is the pod's own, in its namespace.
    """

    topology_key: str
    max_skew: int = 1
    hard: bool = True
    selector: Selector | None = None
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


class ClaimReference(Struct, frozen=True, gc=False):
    """Something a pod needs beyond columns: a volume, a device claim. `kind` names the book that keeps it.

    `is_own`: it is made for this pod and no other; one of that name which is somebody else's will not do.
    """

    kind: str
    name: str
    is_own: bool = False


class Shape(Struct, frozen=True, gc=False, kw_only=True):
    """All that decides where a pod may go. Equal shapes are interned to one row number.

    `requests` always holds `pods: 1`; a pod that asks for nothing else is best effort. `scored_cpu` and `scored_memory`
    are what the pod counts for in scores: Kubernetes lets a container without a request count as 100m and 200 MB there,
    so that pods without requests spread too.
    """

    requests: Amounts = ()
    scored_cpu: int = 0
    scored_memory: int = 0
    node_selector: tuple[Requirement, ...] = ()
    node_terms: tuple[NodeTerm, ...] | None = None
    preferred_nodes: tuple[PreferredNodes, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    ports: tuple[Port, ...] = ()
    near: tuple[PodTerm, ...] = ()
    apart: tuple[PodTerm, ...] = ()
    preferred_near: tuple[PodTerm, ...] = ()
    preferred_apart: tuple[PodTerm, ...] = ()
    spread: tuple[Spread, ...] = ()
    images: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    claims: tuple[ClaimReference, ...] = ()


class Image(Struct, frozen=True, gc=False):
    """An image a node already has: all its names, and its size in bytes."""

    names: tuple[str, ...]
    size: int


class NodeFact(Struct, frozen=True, gc=False, kw_only=True, tag="node"):
    """A node as last observed."""

    name: str
    uid: str = ""
    created: int = 0
    allocatable: Amounts = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    images: tuple[Image, ...] = ()
    features: tuple[str, ...] = ()


Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]


class TaskFact(Struct, frozen=True, gc=False, kw_only=True, tag="task"):
    """A pod as last observed. `gang` is the key of its gang, or empty for a pod that is not ours and only uses room.

    `owner` is its controller as `Kind/name`, or empty. `nominated` is the node that its status names while it waits.
    """

    namespace: str
    name: str
    uid: str
    created: int = 0
    gang: str = ""
    role: str = ""
    shape: Shape
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    priority: int | None = None
    priority_class: str = ""
    may_preempt: bool = True
    preemptable: bool = True
    phase: Phase = "Pending"
    node: str = ""
    nominated: str = ""
    terminating: bool = False
    gates: tuple[str, ...] = ()
    owner: str = ""

    @property
    def key(self) -> str:
        """Namespace and name, as people write a pod."""
        return f"{self.namespace}/{self.name}"


class SubgroupPolicy(Struct, frozen=True, gc=False, kw_only=True):
    """How a gang falls into sub-gangs: members that match the selector, one sub-gang per distinct values of
    `match_keys`.

    `size` members make a sub-gang ready, `min_groups` ready sub-gangs make the gang ready (0: not asked).
    """

    name: str
    size: int = 1
    min_groups: int = 0
    selector: Selector | None = None
    match_keys: tuple[str, ...] = ()


class Rules(Struct, frozen=True, gc=False, kw_only=True):
    """How a gang of this dialect behaves. Nothing behind `dialects/` asks which dialect a gang speaks; it asks these.

    `gated_by_queue`: the gang must be admitted to its queue (enqueue) before it is placed.
    `finished_count`: members that succeeded count towards the minimum.
    `gated_count`: members behind a scheduling gate count as if they only waited.
    `selector_alone_groups`: a sub-gang policy with a selector and no keys makes one sub-gang of all that it selects.
    """

    gated_by_queue: bool = True
    finished_count: bool = True
    gated_count: bool = False
    selector_alone_groups: bool = True


class GangFact(Struct, frozen=True, gc=False, kw_only=True, tag="gang"):
    """A gang as declared. `phase` is read when the gang is first seen, and never again: then the model knows better.

    `key` is unique over all dialects: `namespace/name` for the first dialect, `namespace/name (dialect)` for the
    others. `quota_resources` are its minimum resources under all names as declared, those that only quotas know
    included.
    """

    key: str
    namespace: str
    name: str
    uid: str = ""
    created: int = 0
    dialect: str = "plain"
    queue: str = ""
    min_member: int = 1
    min_roles: tuple[tuple[str, int], ...] = ()
    subgroups: tuple[SubgroupPolicy, ...] = ()
    priority_class: str = ""
    min_resources: Amounts | None = None
    quota_resources: Amounts = ()
    preemptable: bool = False
    phase: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = Rules()


class QueueFact(Struct, frozen=True, gc=False, kw_only=True, tag="queue"):
    """A queue as declared. Absent capability, deserved or guarantee is an empty tuple."""

    key: str
    name: str
    uid: str = ""
    created: int = 0
    tree: str = "volcano"
    weight: int = 1
    priority: int = 0
    parent: str = ""
    reclaimable: bool = True
    capability: Amounts = ()
    deserved: Amounts = ()
    guarantee: Amounts = ()
    state: str = "Open"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


class PriorityClassFact(Struct, frozen=True, gc=False, kw_only=True, tag="priority-class"):
    """A name for a priority; one of them may be the default of all that name none."""

    name: str
    value: int = 0
    is_default: bool = False
    may_preempt: bool = True


class NamespaceFact(Struct, frozen=True, gc=False, kw_only=True, tag="namespace"):
    """A namespace and its labels, for terms that select namespaces."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)


class BudgetFact(Struct, frozen=True, gc=False, kw_only=True, tag="budget"):
    """A PodDisruptionBudget: which pods of its namespace it guards, and how many more may be disrupted now."""

    namespace: str
    name: str
    selector: Selector | None = None
    allowed: int = 0
    disrupted: tuple[str, ...] = ()


class QuotaFact(Struct, frozen=True, gc=False, kw_only=True, tag="quota"):
    """A ResourceQuota: raw quota names (`requests.cpu`, `pods`, ...) with hard limits and what is used."""

    namespace: str
    name: str
    hard: Amounts = ()
    used: Amounts = ()


Fact = (
    NodeFact
    | TaskFact
    | GangFact
    | QueueFact
    | PriorityClassFact
    | NamespaceFact
    | BudgetFact
    | QuotaFact
    | StorageFact
)


class Gone(Struct, frozen=True, gc=False, kw_only=True, tag="gone"):
    """Something is no longer there. `key` is what its fact is known by; an empty uid means whichever stands there."""

    kind: Literal["node", "task", "gang", "queue", "priority-class", "namespace", "budget", "quota"] | StorageKind
    key: str
    uid: str = ""


Observation = Fact | Gone
"""What can be told to a `World`."""
