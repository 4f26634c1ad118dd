"""Unread: the ways to say "gang" that Posse does not read yet.

A pod that uses one is taken for a pod alone, which is not what its owner meant; so whoever takes pods in asks here, and
says so.
"""

from posse.dialects.volcano import GROUP_NAME
from posse.kube.pods import Pod
from posse.kube.workloads import Workload

KAI_SCHEDULER = "kai-scheduler"

MIN_MEMBER = "posse.dev/min-member"

_FIELDS = "{} (Kubernetes' own gangs)"
_ANNOTATIONS = {
    MIN_MEMBER: f"annotation {MIN_MEMBER}",
    "pod-group-name": "annotation pod-group-name (KAI)",
    "gang.scheduling.koordinator.sh/": "annotations gang.scheduling.koordinator.sh/* (Koordinator)",
}
_LABELS = {
    "scheduling.x-k8s.io/pod-group": "label scheduling.x-k8s.io/pod-group (coscheduling)",
    "pod-group.scheduling.sigs.k8s.io": "label pod-group.scheduling.sigs.k8s.io (coscheduling, Koordinator)",
}
"""Annotations and labels by what they are called or begin with."""


def unread_minimum(owner: Workload) -> str:
    """How a workload says that its pods are a gang, if that is not read; else empty."""
    return f"annotation {MIN_MEMBER}" if MIN_MEMBER in owner.metadata.annotations else ""


def unread_membership(pod: Pod) -> str:
    """How a pod says which gang it belongs to, if that is not read; else empty."""
    meta, spec = pod.metadata, pod.spec
    if GROUP_NAME in meta.annotations:
        return ""
    if spec.scheduling_group is not None:
        return _FIELDS.format("spec.schedulingGroup")
    if spec.workload_ref is not None:
        return _FIELDS.format("spec.workloadRef")
    for known, keys in ((_ANNOTATIONS, meta.annotations), (_LABELS, meta.labels)):
        for start, way in known.items():
            if any(key.startswith(start) for key in keys):
                return way
    return f"schedulerName {KAI_SCHEDULER} (KAI's grouping)" if spec.scheduler_name == KAI_SCHEDULER else ""
