"""What a node itself refuses: cordons, labels, taints, ports, features, too little room, too many pods.

Each rule takes the cluster, a task and a node, and gives the reason of refusal or None.
"""

import re

from posse.cluster.facts import NodeFact, Port, Taint, TaskFact, Toleration

from .cluster import PODS, Cluster, amount, compared_resources

CORDON = Taint(key="node.kubernetes.io/unschedulable")
ANY_ADDRESS = "0.0.0.0"
_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def unschedulable(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """A cordoned node takes only pods that tolerate the cordon's taint."""
    if node.unschedulable and not any(tolerates(t, CORDON) for t in task.shape.tolerations):
        return "unschedulable"
    return None


def node_affinity(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """All of the node selector, and one of the required terms if there are any."""
    shape = task.shape
    selected = all(requirement.matches(node.labels) for requirement in shape.node_selector)
    if selected and shape.node_terms is not None:
        selected = any(term.matches(node.name, node.labels) for term in shape.node_terms)
    return None if selected else "node affinity"


def untolerated_taint(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """Every taint that forbids scheduling or execution must be tolerated."""
    for taint in node.taints:
        if taint.effect == "PreferNoSchedule":
            continue
        if not any(tolerates(toleration, taint) for toleration in task.shape.tolerations):
            return "taint"
    return None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration bears a taint. Empty effect and empty key mean any."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "Equal":
            return toleration.value == taint.value
        case "Gt" | "Lt":
            return _compares(toleration.operator, taint.value, toleration.value)


def _compares(operator: str, taint_value: str, toleration_value: str) -> bool:
    """`Gt`: the taint's value is greater than the toleration's. Only plain 64-bit integers compare."""
    numbers = [int(text) for text in (taint_value, toleration_value) if _INTEGER.fullmatch(text)]
    if len(numbers) < 2 or any(not -(2**63) <= number < 2**63 for number in numbers):
        return False
    return numbers[0] > numbers[1] if operator == "Gt" else numbers[0] < numbers[1]


def port_conflict(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """A host port is free if nobody on the node has it under the same protocol and a common address."""
    for other in cluster.residents(node.name):
        if any(_collide(mine, taken) for mine in task.shape.ports for taken in other.shape.ports):
            return "host port"
    return None


def _collide(one: Port, other: Port) -> bool:
    same_port = one.port > 0 and (one.port, one.protocol) == (other.port, other.protocol)
    return same_port and (one.address == other.address or ANY_ADDRESS in (one.address, other.address))


def missing_feature(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """The node declares every feature the pod needs."""
    return None if set(task.shape.features) <= set(node.features) else "node feature"


def insufficient(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """The room there will be once terminating pods are gone and promised ones have come."""
    for resource in compared_resources(task):
        if amount(task.shape.requests, resource) > cluster.future_idle(node.name, resource):
            return f"insufficient {resource}"
    return None


def too_many_pods(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """Pods are also counted, terminating and promised ones included."""
    return "too many pods" if len(cluster.residents(node.name)) >= amount(node.allocatable, PODS) else None


def fits_idle(cluster: Cluster, task: TaskFact, node: NodeFact) -> bool:
    """Whether a task may start at once."""
    return all(
        amount(task.shape.requests, resource) <= cluster.idle(node.name, resource)
        for resource in compared_resources(task)
    )
