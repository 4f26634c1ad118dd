"""Pods, nodes and PodGroups, as far as the rules ask about them. Views of what was told; nothing is kept beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.cluster.checker.events import Object, key
from tests.cluster.checker.quantities import Amounts, amounts, taken

GROUP_NAMES = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""The annotations by which a pod names its PodGroup."""

SOMEBODY_ELSE = ("DeletionByPodGC", "DeletionByTaintManager", "TerminationByKubelet")
"""Reasons of a disruption that are given by parts of Kubernetes, and are not a scheduler's doing."""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod, at one moment."""

    raw: Object

    @property
    def key(self) -> str:
        """Its `namespace/name`."""
        return key(self.raw)

    @property
    def uid(self) -> str:
        """Who it is, whatever it is called."""
        return str(self.raw["metadata"]["uid"])

    @property
    def namespace(self) -> str:
        """Where it lives."""
        return str(self.raw["metadata"]["namespace"])

    @property
    def spec(self) -> Object:
        """What it asks for."""
        spec: Object = self.raw["spec"]
        return spec

    @property
    def node(self) -> str:
        """The node it is bound to, or none."""
        return str(self.spec.get("nodeName") or "")

    @property
    def scheduler(self) -> str:
        """Who is to bind it."""
        return str(self.spec.get("schedulerName") or "default-scheduler")

    @property
    def gang(self) -> str:
        """Its gang's `namespace/name`, or none."""
        annotations = self.raw["metadata"].get("annotations") or {}
        name = next((annotations[it] for it in GROUP_NAMES if annotations.get(it)), "")
        return f"{self.namespace}/{name}" if name else ""

    @property
    def gated(self) -> bool:
        """Whether it must not be scheduled yet."""
        return bool(self.spec.get("schedulingGates"))

    @property
    def phase(self) -> str:
        """How far it has come."""
        return str((self.raw.get("status") or {}).get("phase") or "Pending")

    @property
    def over(self) -> bool:
        """Whether it has ended, and takes no room any more."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def leaving(self) -> bool:
        """Whether it has been told to go."""
        return bool(self.raw["metadata"].get("deletionTimestamp"))

    @property
    def taken(self) -> Amounts:
        """What it takes of its node."""
        return taken(self.spec)

    @property
    def explained(self) -> bool:
        """Whether it says why it is not scheduled."""
        told = self.condition("PodScheduled")
        return told.get("status") == "False" and bool(told.get("reason"))

    @property
    def disruption(self) -> str:
        """The reason that whoever disrupted it left, if any."""
        told = self.condition("DisruptionTarget")
        return str(told.get("reason", "")) if told.get("status") == "True" else ""

    def condition(self, type_: str) -> Mapping[str, Any]:
        """Give one of its conditions."""
        conditions = (self.raw.get("status") or {}).get("conditions") or ()
        return next((it for it in conditions if it["type"] == type_), {})


@dataclass(frozen=True, slots=True)
class Node:
    """A node, at one moment."""

    raw: Object

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.raw["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.raw["metadata"].get("labels") or {}

    @property
    def unschedulable(self) -> bool:
        """Whether it is cordoned."""
        return bool((self.raw.get("spec") or {}).get("unschedulable"))

    @property
    def taints(self) -> Sequence[Mapping[str, str]]:
        """Its taints."""
        return (self.raw.get("spec") or {}).get("taints") or ()

    @property
    def allocatable(self) -> Amounts:
        """What it has to give."""
        return amounts((self.raw.get("status") or {}).get("allocatable"))


def minimum(group: Object) -> int:
    """Give how many members a gang needs, or it needs none."""
    return int((group.get("spec") or {}).get("minMember") or 1)
