"""Pods: API objects in, tasks with their shapes out.

All that a pod says about itself alone is here; which gang it rides with is for its dialect to say.
"""

from posse.cluster.facts import Phase, Shape, TaskFact
from posse.dialects import constraints
from posse.dialects.selectors import equals
from posse.kube.pods import Pod
from posse.kube.quantity import in_order
from posse.kube.requests import pod_requests, scored_requests


def shape_of(pod: Pod) -> Shape:
    """Everything about a pod that decides where it may go."""
    spec, affinity = pod.spec, pod.spec.affinity
    cpu, memory = scored_requests(pod)
    return Shape(
        requests=in_order(pod_requests(pod) | {"pods": 1}),
        scored_cpu=cpu,
        scored_memory=memory,
        node_selector=equals(spec.node_selector),
        node_terms=constraints.node_terms(pod),
        preferred_nodes=constraints.preferred_nodes(pod),
        tolerations=constraints.tolerations(spec),
        ports=constraints.host_ports(spec),
        near=constraints.required_pods(pod, affinity.pod_affinity, "spec.affinity.podAffinity"),
        apart=constraints.required_pods(pod, affinity.pod_anti_affinity, "spec.affinity.podAntiAffinity"),
        preferred_near=constraints.preferred_pods(pod, affinity.pod_affinity, "spec.affinity.podAffinity"),
        preferred_apart=constraints.preferred_pods(pod, affinity.pod_anti_affinity, "spec.affinity.podAntiAffinity"),
        spread=constraints.spread(pod),
        images=constraints.images(spec),
        features=constraints.features(spec),
        claims=constraints.claims(pod),
    )


def task_of(pod: Pod, shape: Shape | None = None) -> TaskFact:
    """The pod as a task that belongs to no gang yet. Its shape may be known."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    owner = pod.controller
    return TaskFact(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        created=pod.created,
        shape=shape_of(pod) if shape is None else shape,
        labels=meta.labels,
        annotations=meta.annotations,
        priority=spec.priority,
        priority_class=spec.priority_class_name,
        may_preempt=spec.preemption_policy != "Never",
        phase=phase_of(pod),
        node=spec.node_name,
        nominated=status.nominated_node_name,
        terminating=bool(meta.deletion_timestamp),
        gates=tuple(sorted(gate.name for gate in spec.scheduling_gates)),
        owner=f"{owner.kind}/{owner.name}" if owner else "",
    )


def phase_of(pod: Pod) -> Phase:
    """The pod's phase; one that has none yet is pending."""
    return pod.status.phase or "Pending"
