"""Whether a pod may be on a node: selectors, required affinity, taints, cordon. Every reason why not, in words."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.cluster.checker.objects import Node, Pod

CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
"""What a cordon is to a toleration."""

KEEPS_OUT = ("NoSchedule", "NoExecute")
"""The effects of taints that keep new pods out."""

Requirement = Mapping[str, Any]

OPERATORS: Mapping[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, values: value is not None,
    "DoesNotExist": lambda value, values: value is None,
    "Gt": lambda value, values: is_number(value) and int(value or 0) > int(values[0]),
    "Lt": lambda value, values: is_number(value) and int(value or 0) < int(values[0]),
}


def refusals(pod: Pod, node: Node | None) -> Iterator[str]:
    """Say why a pod may not be on a node; nothing, if it may."""
    if node is None:
        yield "there was no such node"
        return
    if node.unschedulable and not tolerates(pod, CORDON):
        yield "it was cordoned"
    for taint in node.taints:
        if taint["effect"] in KEEPS_OUT and not tolerates(pod, taint):
            yield f"taint {taint['key']}={taint.get('value', '')}:{taint['effect']} is not tolerated"
    for name, value in (pod.spec.get("nodeSelector") or {}).items():
        if node.labels.get(name) != value:
            yield f"node selector {name}={value} does not match"
    if not affine(pod, node):
        yield "the required node affinity does not match"


def tolerates(pod: Pod, taint: Mapping[str, str]) -> bool:
    """Whether one of a pod's tolerations is for this taint."""
    return any(tolerated(it, taint) for it in pod.spec.get("tolerations") or ())


def tolerated(toleration: Mapping[str, str], taint: Mapping[str, str]) -> bool:
    """Whether a toleration is for a taint: no effect means all, no key (with Exists) too."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def affine(pod: Pod, node: Node) -> bool:
    """Whether one of the terms of a pod's required node affinity matches, if there are any."""
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(matches(term, node) for term in required["nodeSelectorTerms"])


def matches(term: Mapping[str, list[Requirement]], node: Node) -> bool:
    """Whether all of a term matches. A term that says nothing matches nothing."""
    labels, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    wanted = [*((it, node.labels.get(it["key"])) for it in labels), *((it, node.name) for it in fields)]
    return bool(wanted) and all(OPERATORS[it["operator"]](value, it.get("values") or []) for it, value in wanted)


def is_number(value: str | None) -> bool:
    """Whether a label can be compared."""
    return value is not None and value.removeprefix("-").isdecimal()
