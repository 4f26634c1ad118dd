"""DaemonSets: one pod on every node that suits it, each bound to its node by name before it is placed."""

from collections.abc import Iterable

from msgspec import structs

from posse.cluster.facts import Effect, Taint, Toleration
from posse.dialects import constraints
from posse.dialects.core import node_fact
from posse.dialects.selectors import equals
from posse.kube.meta import LabelRequirement
from posse.kube.objects import Node
from posse.kube.pods import Affinity, NodeAffinity, NodeSelector, NodeSelectorTerm, Pod, PodSpec, PodToleration
from posse.kube.workloads import DaemonSet, PodTemplate
from posse.simulation.templates import pod_from

_ALWAYS_BORNE: tuple[tuple[str, Effect], ...] = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
"""Taints that keep no daemon away."""
_BORNE_ON_HOST_NETWORK: tuple[str, Effect] = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def daemons_of(owner: DaemonSet, nodes: Iterable[Node]) -> list[Pod]:
    """A pod for each node that suits it, named after the node."""
    template = _tolerant(owner)
    probe = pod_from(owner, owner.metadata.name, template)
    return [daemon_on(owner, node.metadata.name) for node in nodes if _suits(probe, node)]


def daemon_on(owner: DaemonSet, node: str, name: str = "") -> Pod:
    """The pod for one node."""
    template = _tolerant(owner)
    bound = structs.replace(template, spec=_only_on(template.spec, node))
    return pod_from(owner, name or f"{owner.metadata.name}-{node}", bound)


def node_of(pod: Pod) -> str:
    """The node a daemon is meant for."""
    required = pod.spec.affinity.node_affinity.required
    terms = required.node_selector_terms if required else ()
    meant = [field.values[0] for term in terms for field in term.match_fields if field.values]
    return meant[0] if meant else pod.spec.node_name


def _tolerant(owner: DaemonSet) -> PodTemplate:
    template = owner.spec.template
    borne = (*_ALWAYS_BORNE, _BORNE_ON_HOST_NETWORK) if template.spec.host_network else _ALWAYS_BORNE
    more = tuple(PodToleration(key=key, operator="Exists", effect=effect) for key, effect in borne)
    spec = structs.replace(template.spec, tolerations=(*template.spec.tolerations, *more))
    return structs.replace(template, spec=spec)


def _only_on(spec: PodSpec, node: str) -> PodSpec:
    """The pod may go to this node only; what it demanded of nodes is met by it already."""
    term = NodeSelectorTerm(match_fields=(LabelRequirement("metadata.name", "In", (node,)),))
    affinity = spec.affinity
    nodes = NodeAffinity(NodeSelector((term,)), affinity.node_affinity.preferred)
    return structs.replace(spec, affinity=Affinity(nodes, affinity.pod_affinity, affinity.pod_anti_affinity))


def _suits(probe: Pod, node: Node) -> bool:
    fact = node_fact(node)
    terms = constraints.node_terms(probe)
    selected = all(one.matches(fact.labels) for one in equals(probe.spec.node_selector))
    wanted = terms is None or any(term.matches(fact.name, fact.labels) for term in terms)
    borne = constraints.tolerations(probe.spec)
    kept_away = any(taint.effect != "PreferNoSchedule" and not _is_borne(taint, borne) for taint in fact.taints)
    return selected and wanted and not kept_away


def _is_borne(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_bears(one, taint) for one in tolerations)


def _bears(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration bears a taint; comparisons of numbers are left to the scheduler, which asks again."""
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.key != "" and (toleration.operator != "Equal" or toleration.value == taint.value)
