"""Shapes of siblings: found once, and known again by what they were made of.

Reading all that a pod asks for is most of the work of translating it, and its siblings ask for the same. So of some
controllers' pods the last one is remembered: one that differs in nothing a shape is made of has the same shape. Who
asks for things by his own name or labels (claims, other pods) is read by himself.
"""

from typing import Any

from msgspec import structs

from posse.cluster.facts import Shape
from posse.dialects.pods import shape_of
from posse.kube.pods import Pod, PodAffinity

Parts = tuple[Any, ...]

SOME = 1 << 9
"""How many controllers, and how many shapes, are remembered before all are forgotten."""

NONE = PodAffinity()


class Shapes:
    """The shapes of pods, remembered for siblings."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Parts, Shape]] = {}
        self._shapes: dict[Shape, Shape] = {}

    def of(self, pod: Pod) -> Shape:
        """What `shape_of` says."""
        owner, parts = pod.controller, _parts(pod)
        if owner is None or parts is None:
            return self._found(pod)
        known = self._known.get(owner.uid)
        if known is not None and known[0] == parts:
            return known[1]
        if len(self._known) >= SOME:
            self._known.clear()
        shape = self._found(pod)
        self._known[owner.uid] = parts, shape
        return shape

    def _found(self, pod: Pod) -> Shape:
        """A shape that was not known, or one that another controller's pods have too."""
        if len(self._shapes) >= SOME:
            self._shapes.clear()
        shape = shape_of(pod)
        return self._shapes.setdefault(shape, shape)


def _parts(pod: Pod) -> Parts | None:
    """All that a pod's shape is made of; None if it depends on who the pod is."""
    spec, status = pod.spec, pod.status
    if spec.topology_spread_constraints or spec.resource_claims or _has_claims(pod) or _looks_at_others(pod):
        return None
    asked = structs.replace(spec, node_name="", volumes=())
    containers = status.container_statuses, status.init_container_statuses
    return asked, containers, status.resize, pod.condition("PodResizePending")


def _has_claims(pod: Pod) -> bool:
    return any(volume.persistent_volume_claim or volume.ephemeral is not None for volume in pod.spec.volumes)


def _looks_at_others(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return affinity.pod_affinity != NONE or affinity.pod_anti_affinity != NONE
