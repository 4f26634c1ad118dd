"""How budgets and quotas stand, where nobody said: counted from the pods that are there, as their controllers would.

In a cluster these figures are kept by controllers; in a file they are often missing. Both are plain functions of an
object and the pods of the moment, so whoever runs the clock may ask again whenever pods have moved.
"""

from collections.abc import Iterable

from msgspec import structs

from posse.dialects.selectors import selector_of
from posse.errors import InputError, Place
from posse.kube.objects import (
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    ResourceQuota,
    ResourceQuotaStatus,
)
from posse.kube.quantity import Quantity, format_amount
from posse.kube.requests import Totals, pod_limits, pod_requests, sum_of

_OVER = ("Succeeded", "Failed")
_LIMITED = ("cpu", "memory", "ephemeral-storage")
"""What a quota may set a limit to, and not only a request."""


def with_budget_status(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> PodDisruptionBudget:
    """The budget with how many disruptions it allows now. A running pod is healthy unless it says it is not ready."""
    place = Place(object=str(budget), field="spec.selector")
    selector = selector_of(budget.spec.selector, place)
    mine = [
        pod
        for pod in pods
        if pod.metadata.namespace == budget.metadata.namespace
        and selector is not None
        and selector.matches(pod.metadata.labels)
        and pod.status.phase not in _OVER
    ]
    healthy = sum(_is_healthy(pod) for pod in mine)
    desired = _desired(budget, len(mine))
    status = PodDisruptionBudgetStatus(
        disruptions_allowed=max(0, healthy - desired) if mine else 0,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=len(mine),
    )
    return structs.replace(budget, status=status)


def _is_healthy(pod: Pod) -> bool:
    ready = pod.condition("Ready")
    running = pod.status.phase == "Running" and not pod.metadata.deletion_timestamp
    return running and (ready is None or ready.status == "True")


def _desired(budget: PodDisruptionBudget, expected: int) -> int:
    """How many must stay healthy."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(0, expected - _share(budget, spec.max_unavailable, expected, "maxUnavailable"))
    return _share(budget, 0 if spec.min_available is None else spec.min_available, expected, "minAvailable")


def _share(budget: PodDisruptionBudget, value: int | str, expected: int, field: str) -> int:
    """A number of pods, or a percentage of them, rounded up."""
    if isinstance(value, int):
        return value
    percent = value.removesuffix("%")
    if not value.endswith("%") or not percent.isdecimal():
        place = Place(object=str(budget), field=f"spec.{field}")
        raise InputError(f"{value!r} is neither", place=place, accepted="a whole number or a percentage such as 50%")
    return -(-int(percent) * expected // 100)


def with_quota_status(quota: ResourceQuota, pods: Iterable[Pod]) -> ResourceQuota:
    """The quota with what is used of it by pods that have not ended."""
    alive = [
        pod for pod in pods if pod.metadata.namespace == quota.metadata.namespace and pod.status.phase not in _OVER
    ]
    total = sum_of(quota_usage(pod) for pod in alive)
    hard = quota.spec.hard
    used: dict[str, Quantity] = {name: format_amount(name, total.get(name, 0)) for name in hard}
    return structs.replace(quota, status=ResourceQuotaStatus(hard=hard, used=used))


def quota_usage(pod: Pod) -> Totals:
    """What one pod uses, under every name by which a quota, or a gang's minResources, may speak of it."""
    requests, limits = pod_requests(pod), pod_limits(pod)
    usage = {"pods": 1, "count/pods": 1} | requests
    usage |= {f"requests.{name}": value for name, value in requests.items()}
    return usage | {f"limits.{name}": limits[name] for name in _LIMITED if name in limits}
