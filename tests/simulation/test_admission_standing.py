"""How budgets and quotas stand, counted from the pods that are there."""

import pytest

from posse.errors import InputError
from posse.kube.objects import Pod
from posse.simulation.standing import with_budget_status, with_quota_status
from tests.kube.builders import budget, container, pod, quota

RUNNING = {"phase": "Running"}


def running(number: int, **labels: str) -> list[Pod]:
    return [pod(f"p{i}", metadata={"labels": labels or {"app": "x"}}, status=RUNNING) for i in range(number)]


def allowed(pods: list[Pod], **spec: object) -> int:
    counted = with_budget_status(budget("b", selector={"matchLabels": {"app": "x"}}, **spec), pods)
    assert counted.status is not None
    return counted.status.disruptions_allowed


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        ({"minAvailable": 3}, 2),
        ({"minAvailable": "50%"}, 2),
        ({"minAvailable": 9}, 0),
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": "30%"}, 2),
        ({}, 5),
    ],
)
def test_of_five_healthy_pods_so_many_may_go(spec: dict[str, object], left: int) -> None:
    assert allowed(running(5), **spec) == left


def test_only_pods_that_match_in_the_namespace_of_the_budget_count() -> None:
    others = [*running(2, app="y"), pod("e", "elsewhere", metadata={"labels": {"app": "x"}}, status=RUNNING)]

    assert allowed([*running(2), *others], minAvailable=1) == 1


def test_pods_that_are_not_ready_terminating_or_waiting_are_not_healthy() -> None:
    unready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    labels = {"labels": {"app": "x"}}
    sick = [
        pod("a", metadata=labels, status=unready),
        pod("b", metadata={**labels, "deletionTimestamp": "2026-01-01T00:00:00Z"}, status=RUNNING),
        pod("c", metadata=labels),
    ]

    assert allowed([*running(2), *sick], maxUnavailable=4) == 1


def test_pods_that_ended_are_not_expected() -> None:
    ended = [pod("d", metadata={"labels": {"app": "x"}}, status={"phase": "Succeeded"})]

    assert allowed([*running(2), *ended], maxUnavailable=1) == 1


def test_a_budget_over_no_pods_allows_nothing() -> None:
    assert allowed([], maxUnavailable=1) == 0


def test_a_budget_that_is_neither_number_nor_percentage_is_refused() -> None:
    with pytest.raises(InputError, match=r"PodDisruptionBudget default/b, spec.minAvailable: 'most' is neither"):
        allowed(running(1), minAvailable="most")


def test_a_quota_counts_what_living_pods_of_its_namespace_use() -> None:
    asking = [container({"cpu": "1", "nvidia.com/gpu": 2}), {"resources": {"limits": {"memory": "1Gi"}}}]
    pods = [
        pod("a", containers=asking),
        pod("b", containers=asking, status={"phase": "Failed"}),
        pod("c", "elsewhere", containers=asking),
    ]
    names = ["cpu", "requests.cpu", "limits.memory", "requests.nvidia.com/gpu", "pods", "count/pods", "services"]
    counted = with_quota_status(quota("q", **dict.fromkeys(names, "9")), pods)

    assert counted.status is not None
    assert counted.status.used == {
        "cpu": "1",
        "requests.cpu": "1",
        "limits.memory": "1Gi",
        "requests.nvidia.com/gpu": "2",
        "pods": "1",
        "count/pods": "1",
        "services": "0",
    }
