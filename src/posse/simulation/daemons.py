"""DaemonSets: one pod on every node that suits it, and that may go to no other.

On a node that comes later they are there before anybody else is placed. A dump often has such pods without their
DaemonSet: a new node gets what a node like it has.
"""

from collections.abc import Iterable, Mapping

from msgspec import structs

from posse.cluster.facts import Effect, Taint, Toleration
from posse.cluster.ordering import natural
from posse.dialects import constraints
from posse.dialects.core import node_fact
from posse.dialects.selectors import equals
from posse.kube.meta import KubeObject, LabelRequirement, Metadata
from posse.kube.objects import Node
from posse.kube.pods import Affinity, NodeAffinity, NodeSelector, NodeSelectorTerm, Pod, PodSpec, PodToleration
from posse.kube.requests import pod_requests
from posse.kube.workloads import DaemonSet, PodTemplate
from posse.simulation.identities import Identity, identity_of
from posse.simulation.ownership import controller_of
from posse.simulation.templates import pod_from

HOSTNAME = "kubernetes.io/hostname"

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


class Daemons:
    """What runs on every node that there is: DaemonSets, and pods whose DaemonSet is not there."""

    def __init__(self) -> None:
        self._sets: dict[Identity, DaemonSet] = {}
        self._pods: dict[Identity, Identity] = {}
        """Daemons, and whose they are."""

    def learn(self, thing: KubeObject) -> None:
        """Take note of an object."""
        if isinstance(thing, DaemonSet):
            self._sets[identity_of(thing)] = thing
        elif isinstance(thing, Pod) and thing.controller is not None and thing.controller.kind == DaemonSet.KIND:
            owner = controller_of(thing)
            assert owner is not None
            self._pods[identity_of(thing)] = owner

    def forget(self, identity: Identity) -> None:
        """An object is gone."""
        self._sets.pop(identity, None)
        self._pods.pop(identity, None)

    def on(self, nodes: list[Node], objects: Mapping[Identity, KubeObject]) -> list[Pod]:
        """The pods that new nodes get, before admission."""
        if not nodes or not (self._sets or self._pods):
            return []
        made = [pod for owner in self._sets.values() for pod in daemons_of(owner, nodes)]
        found: dict[object, list[Pod]] = {}
        for node in nodes:
            kind = (frozenset(_lasting(node).items()), node.spec.taints)
            if kind not in found:
                found[kind] = self._on_nodes_like(node, objects)
            made += [_copied(pod, node.metadata.name) for pod in found[kind]]
        return made

    def _on_nodes_like(self, new: Node, objects: Mapping[Identity, KubeObject]) -> list[Pod]:
        """Daemons without their DaemonSet, one of each, that are on a node whose labels the new one has too."""
        found: dict[Identity, Pod] = {}
        for identity, owner in self._pods.items():
            pod = objects.get(identity) if owner not in self._sets and owner not in found else None
            node = objects.get(("", Node.KIND, "", pod.spec.node_name)) if isinstance(pod, Pod) else None
            if isinstance(pod, Pod) and isinstance(node, Node) and _lasting(node).items() <= _lasting(new).items():
                anywhere = structs.replace(pod, spec=structs.replace(pod.spec, affinity=Affinity()))
                if _suits(anywhere, new):
                    found[owner] = pod
        return list(found.values())

    def fork(self) -> "Daemons":
        """A copy that goes on from here."""
        other = Daemons()
        other._sets, other._pods = dict(self._sets), dict(self._pods)
        return other


def seated(daemons: Iterable[Pod], nodes: Iterable[Node]) -> list[Pod]:
    """Daemons of new nodes, bound to them, the most urgent first; those that do not fit wait like others."""
    left = {node.metadata.name: dict(node_fact(node).allocatable) for node in nodes}
    bound = []
    for daemon in sorted(daemons, key=lambda pod: (-(pod.spec.priority or 0), natural(str(pod)))):
        node, asked = node_of(daemon), pod_requests(daemon) | {"pods": 1}
        room = left[node]
        fits = all(amount <= room.get(name, 0) for name, amount in asked.items())
        if fits:
            room.update((name, room[name] - amount) for name, amount in asked.items())
        spec = structs.replace(daemon.spec, node_name=node if fits else "")
        bound.append(structs.replace(daemon, spec=spec))
    return bound


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


def _copied(daemon: Pod, node: str) -> Pod:
    """A daemon like one that runs elsewhere."""
    meta, owner = daemon.metadata, daemon.controller
    assert owner is not None
    return Pod(
        metadata=Metadata(
            name=f"{owner.name}-{node}",
            namespace=meta.namespace,
            labels=meta.labels,
            annotations=meta.annotations,
            owner_references=meta.owner_references,
        ),
        spec=structs.replace(_only_on(daemon.spec, node), node_name=""),
    )


def _lasting(node: Node) -> dict[str, str]:
    """A node's labels, its own name aside."""
    return {key: value for key, value in node.metadata.labels.items() if key != HOSTNAME}


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
