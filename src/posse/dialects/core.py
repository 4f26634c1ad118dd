"""Kubernetes' own objects that every dialect shares: nodes, priority classes, namespaces, budgets, quotas."""

from posse.cluster.facts import BudgetFact, Image, NamespaceFact, NodeFact, PriorityClassFact, QuotaFact, Taint
from posse.dialects.selectors import selector_of
from posse.errors import Place
from posse.kube.objects import Namespace, Node, PodDisruptionBudget, PriorityClass, ResourceQuota
from posse.kube.quantity import amounts, countable, in_order


def node_fact(node: Node) -> NodeFact:
    """A node: what it can give, and to whom. Without `allocatable` its capacity counts."""
    meta, status = node.metadata, node.status
    where = "status.allocatable" if status.allocatable else "status.capacity"
    given = countable(amounts(status.allocatable or status.capacity, str(node), where), str(node), where)
    return NodeFact(
        name=meta.name,
        uid=meta.uid,
        created=node.created,
        allocatable=in_order(given),
        labels=meta.labels,
        annotations=meta.annotations,
        taints=tuple(Taint(taint.key, taint.value, taint.effect) for taint in node.spec.taints),
        unschedulable=node.spec.unschedulable,
        images=tuple(Image(tuple(sorted(image.names)), image.size_bytes) for image in status.images),
        features=tuple(sorted(status.declared_features)),
    )


def priority_class_fact(priority_class: PriorityClass) -> PriorityClassFact:
    """A name for a priority."""
    return PriorityClassFact(
        name=priority_class.metadata.name,
        value=priority_class.value,
        is_default=priority_class.global_default,
        may_preempt=priority_class.preemption_policy != "Never",
    )


def namespace_fact(namespace: Namespace) -> NamespaceFact:
    """A namespace and its labels; like an API server we label it with its own name."""
    name = namespace.metadata.name
    return NamespaceFact(name=name, labels={**namespace.metadata.labels, "kubernetes.io/metadata.name": name})


def budget_fact(budget: PodDisruptionBudget) -> BudgetFact:
    """A budget, and how much of it is left. One whose status nobody computed allows nothing."""
    meta, status = budget.metadata, budget.status
    return BudgetFact(
        namespace=meta.namespace,
        name=meta.name,
        selector=selector_of(budget.spec.selector, Place(object=str(budget), field="spec.selector")),
        allowed=status.disruptions_allowed if status else 0,
        disrupted=tuple(sorted(status.disrupted_pods)) if status else (),
    )


def quota_fact(quota: ResourceQuota) -> QuotaFact:
    """A quota: the limits in force, and what is used of them."""
    meta, status = quota.metadata, quota.status
    if status and status.hard:
        hard = amounts(status.hard, str(quota), "status.hard")
    else:
        hard = amounts(quota.spec.hard, str(quota), "spec.hard")
    used = amounts(status.used, str(quota), "status.used") if status else {}
    return QuotaFact(namespace=meta.namespace, name=meta.name, hard=in_order(hard), used=in_order(used))
