"""Where a pod may go, and where it would like to: its spec as the parts of a shape."""

from collections.abc import Iterable, Mapping

from posse.cluster.facts import ClaimReference, PodTerm, Port, PreferredNodes, Spread, Toleration
from posse.cluster.selectors import NodeTerm, Requirement
from posse.cluster.storage_facts import VOLUME_CLAIM
from posse.dialects.selectors import node_term, selector_of
from posse.errors import Place
from posse.kube.pods import (
    ContainerPort,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    TopologySpreadConstraint,
)

DEVICE_CLAIM = "device"
"""A claim of devices that exists: `namespace/name` of the ResourceClaim."""
DEVICE_TEMPLATE = "device-template"
"""A claim of devices yet to be made: `namespace/name` of the ResourceClaimTemplate."""

RESTART_ALL = "RestartAllContainersOnContainerExits"
"""A feature that a node must declare to run a pod whose containers may restart all others."""


def node_terms(pod: Pod) -> tuple[NodeTerm, ...] | None:
    """Node terms of which one must hold. None: no such demand. Empty: a demand that nothing meets."""
    required = pod.spec.affinity.node_affinity.required
    if required is None:
        return None
    place = Place(object=str(pod), field="spec.affinity.nodeAffinity")
    return tuple(node_term(term, place) for term in required.node_selector_terms)


def preferred_nodes(pod: Pod) -> tuple[PreferredNodes, ...]:
    """Nodes that would be welcome."""
    place = Place(object=str(pod), field="spec.affinity.nodeAffinity")
    preferred = pod.spec.affinity.node_affinity.preferred
    return tuple(PreferredNodes(term.weight, node_term(term.preference, place)) for term in preferred)


def required_pods(pod: Pod, affinity: PodAffinity, field: str) -> tuple[PodTerm, ...]:
    """Pods that must be near, or must not."""
    return tuple(_pod_term(pod, term, 0, field) for term in affinity.required)


def preferred_pods(pod: Pod, affinity: PodAffinity, field: str) -> tuple[PodTerm, ...]:
    """Pods that would be welcome near, or unwelcome."""
    return tuple(_pod_term(pod, term.pod_affinity_term, term.weight, field) for term in affinity.preferred)


def _pod_term(pod: Pod, term: PodAffinityTerm, weight: int, field: str) -> PodTerm:
    place = Place(object=str(pod), field=field)
    labels = pod.metadata.labels
    more = (*_like_mine(labels, term.match_label_keys), *_unlike_mine(labels, term.mismatch_label_keys))
    own_namespace = not term.namespaces and term.namespace_selector is None
    return PodTerm(
        topology_key=term.topology_key,
        selector=selector_of(term.label_selector, place, more),
        namespaces=(pod.metadata.namespace,) if own_namespace else tuple(sorted(set(term.namespaces))),
        namespace_selector=selector_of(term.namespace_selector, place),
        weight=weight,
    )


def _like_mine(labels: Mapping[str, str], keys: Iterable[str]) -> list[Requirement]:
    return [Requirement(key, "In", (labels[key],)) for key in keys if key in labels]


def _unlike_mine(labels: Mapping[str, str], keys: Iterable[str]) -> list[Requirement]:
    return [Requirement(key, "NotIn", (labels[key],)) for key in keys if key in labels]


def spread(pod: Pod) -> tuple[Spread, ...]:
    """How evenly pods like this one must lie."""
    return tuple(_spread(pod, constraint) for constraint in pod.spec.topology_spread_constraints)


def _spread(pod: Pod, constraint: TopologySpreadConstraint) -> Spread:
    place = Place(object=str(pod), field="spec.topologySpreadConstraints")
    more = _like_mine(pod.metadata.labels, constraint.match_label_keys)
    return Spread(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        hard=constraint.when_unsatisfiable == "DoNotSchedule",
        selector=selector_of(constraint.label_selector, place, more),
        min_domains=constraint.min_domains or 1,
        honor_affinity=constraint.node_affinity_policy != "Ignore",
        honor_taints=constraint.node_taints_policy == "Honor",
    )


def tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """Which taints the pod bears."""
    return tuple(
        Toleration(one.key, one.operator or "Equal", one.value, one.effect) for one in dict.fromkeys(spec.tolerations)
    )


def host_ports(spec: PodSpec) -> tuple[Port, ...]:
    """The ports taken on the node, those of sidecars included. On the host's network every port is one."""
    sidecars = (container for container in spec.init_containers if container.is_sidecar)
    ports = (port for container in (*sidecars, *spec.containers) for port in container.ports)
    taken = {_port(port, number) for port in ports if (number := _on_node(port, spec))}
    return tuple(sorted(taken, key=lambda port: (port.port, port.protocol, port.address)))


def _on_node(port: ContainerPort, spec: PodSpec) -> int:
    return port.host_port or (port.container_port if spec.host_network else 0)


def _port(port: ContainerPort, number: int) -> Port:
    return Port(number, port.protocol or "TCP", port.host_ip or "0.0.0.0")


def images(spec: PodSpec) -> tuple[str, ...]:
    """The images of all containers, named as nodes name them; one that names no tag means `latest`."""
    names = (container.image for container in (*spec.init_containers, *spec.containers))
    return tuple(sorted(name if name.rfind(":") > name.rfind("/") else f"{name}:latest" for name in names))


def features(spec: PodSpec) -> tuple[str, ...]:
    """What a node must declare to run this pod."""
    containers = (*spec.init_containers, *spec.containers)
    actions = {rule.action for container in containers for rule in container.restart_policy_rules}
    return (RESTART_ALL,) if "RestartAllContainers" in actions else ()


def claims(pod: Pod) -> tuple[ClaimReference, ...]:
    """The claims the pod needs: of volumes, and of devices."""
    space, spec = pod.metadata.namespace, pod.spec
    found: set[ClaimReference] = set()
    for volume in spec.volumes:
        if volume.persistent_volume_claim:
            found.add(ClaimReference(VOLUME_CLAIM, f"{space}/{volume.persistent_volume_claim.claim_name}"))
        elif volume.ephemeral is not None:
            found.add(ClaimReference(VOLUME_CLAIM, f"{space}/{pod.metadata.name}-{volume.name}", is_own=True))
    made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    for claim in spec.resource_claims:
        if name := made.get(claim.name) or claim.resource_claim_name:
            found.add(ClaimReference(DEVICE_CLAIM, f"{space}/{name}"))
        else:
            found.add(ClaimReference(DEVICE_TEMPLATE, f"{space}/{claim.resource_claim_template_name}"))
    return tuple(sorted(found, key=lambda claim: (claim.kind, claim.name)))
