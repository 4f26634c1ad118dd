"""Taints and tolerations: who bears what."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Taint, Toleration
from posse.scheduler.placement.node_traits import NodeTraits

FORBIDDING = ("NoSchedule", "NoExecute")
CORDON = Taint(key="node.kubernetes.io/unschedulable")
"""The taint that a pod must tolerate to go to a cordoned node."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_LEAST, _MOST = -(2**63), 2**63 - 1


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration bears a taint. An empty effect is every effect, an empty key every key."""
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "Equal":
            return toleration.value == taint.value
        case "Gt" | "Lt":
            return _compares(toleration, taint)


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """`Gt`: the taint's value is greater than the toleration's. Only plain 64-bit integers compare."""
    taken, given = _integer(taint.value), _integer(toleration.value)
    if taken is None or given is None:
        return False
    return taken > given if toleration.operator == "Gt" else taken < given


def _integer(text: str) -> int | None:
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and _LEAST <= number <= _MOST else None


def bears(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether any toleration bears a taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def first_untolerated(tolerations: Sequence[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """The first taint that keeps pods with these tolerations away, if any does."""
    return next((taint for taint in taints if taint.effect in FORBIDDING and not bears(tolerations, taint)), None)


def tolerated(traits: NodeTraits, tolerations: Sequence[Toleration]) -> NDArray[np.bool_]:
    """Which nodes have no taint that keeps pods with these tolerations away."""
    return traits.taints().answers(lambda taints: first_untolerated(tolerations, taints) is None, 1) > 0
