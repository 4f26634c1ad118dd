"""What a pod asks for, from all the places where it may say so."""

import pytest

from posse.errors import InputError
from posse.kube.requests import pod_limits, pod_requests, scored_requests
from tests.kube.builders import container, pod

MI = 2**20


def sidecar(cpu: str) -> dict[str, object]:
    return container({"cpu": cpu}, name=f"side-{cpu}", restartPolicy="Always")


def test_containers_add_up() -> None:
    two = pod(containers=[container({"cpu": "1", "memory": "1Mi"}), container({"cpu": "500m", "nvidia.com/gpu": 2})])

    assert pod_requests(two) == {"cpu": 1500, "memory": MI, "nvidia.com/gpu": 2000}


def test_of_init_containers_the_largest_counts_where_it_exceeds_the_containers() -> None:
    first = [container({"cpu": "3"}), container({"cpu": "1", "memory": "9Mi"})]
    starting = pod(containers=[container({"cpu": "2", "memory": "5Mi"})], initContainers=first)

    assert pod_requests(starting) == {"cpu": 3000, "memory": 9 * MI}


def test_a_sidecar_adds_to_the_containers() -> None:
    with_side = pod(containers=[container({"cpu": "2"})], initContainers=[sidecar("1")])

    assert pod_requests(with_side) == {"cpu": 3000}


def test_an_init_container_runs_beside_the_sidecars_before_it_only() -> None:
    before = pod(containers=[container({"cpu": "1"})], initContainers=[sidecar("1"), container({"cpu": "4"})])
    after = pod(containers=[container({"cpu": "1"})], initContainers=[container({"cpu": "4"}), sidecar("1")])

    assert (pod_requests(before), pod_requests(after)) == ({"cpu": 5000}, {"cpu": 4000})


def test_overhead_comes_on_top() -> None:
    assert pod_requests(pod(overhead={"cpu": "250m", "memory": "10Mi"})) == {"cpu": 1250, "memory": 10 * MI}


def test_a_limit_stands_in_for_a_missing_request() -> None:
    limited = pod(containers=[{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "nvidia.com/gpu": 1}}}])

    assert pod_requests(limited) == {"cpu": 1000, "nvidia.com/gpu": 1000}


def test_what_the_pod_states_as_a_whole_overrides_the_sum() -> None:
    whole = pod(
        containers=[container({"cpu": "1", "memory": "1Mi"}), container({"nvidia.com/gpu": 1})],
        resources={"requests": {"cpu": "5", "nvidia.com/gpu": 9}},
    )

    assert pod_requests(whole) == {"cpu": 5000, "memory": MI, "nvidia.com/gpu": 1000}


def test_a_limit_of_the_whole_pod_stands_in_only_where_no_container_asks() -> None:
    whole = pod(containers=[container({"cpu": "1"})], resources={"limits": {"cpu": "5", "memory": "7Mi"}})

    assert pod_requests(whole) == {"cpu": 1000, "memory": 7 * MI}


def test_overhead_comes_on_top_of_what_is_stated_as_a_whole() -> None:
    assert pod_requests(pod(resources={"requests": {"cpu": "5"}}, overhead={"cpu": "1"})) == {"cpu": 6000}


def test_zeros_are_left_out() -> None:
    assert pod_requests(pod(containers=[container({"cpu": "0", "nvidia.com/gpu": 0})])) == {}


@pytest.mark.parametrize(
    ("wanted", "given", "set_aside", "cpu"),
    [("1", "2", "1", 2000), ("3", "2", "1", 3000), ("1", "1", "4", 4000)],
)
def test_while_a_pod_is_resized_in_place_the_most_counts(wanted: str, given: str, set_aside: str, cpu: int) -> None:
    state = {"name": "main", "resources": {"requests": {"cpu": given}}, "allocatedResources": {"cpu": set_aside}}
    resized = pod(containers=[container({"cpu": wanted})], nodeName="n", status={"containerStatuses": [state]})

    assert pod_requests(resized) == {"cpu": cpu}


@pytest.mark.parametrize(
    "refusal", [{"resize": "Infeasible"}, {"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}]}]
)
def test_a_resize_that_the_node_refused_does_not_count(refusal: dict[str, object]) -> None:
    state = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    status = {"containerStatuses": [state], **refusal}

    assert pod_requests(pod(containers=[container({"cpu": "9"})], nodeName="n", status=status)) == {"cpu": 1000}


def test_the_status_of_a_sidecar_counts_and_that_of_an_init_container_does_not() -> None:
    states = [{"name": name, "resources": {"requests": {"cpu": "8"}}} for name in ("side-1", "setup")]
    spec = {"containers": [container()], "initContainers": [sidecar("1"), container({"cpu": "2"}, name="setup")]}

    assert pod_requests(pod(**spec, status={"initContainerStatuses": states})) == {"cpu": 10_000}


def test_scores_count_a_container_without_requests_as_a_little() -> None:
    two = pod(containers=[container({"cpu": "1"}), container()])

    assert scored_requests(two) == (1100, 400 * MI)


def test_scores_count_an_explicit_zero_as_zero() -> None:
    assert scored_requests(pod(containers=[container({"cpu": "0", "memory": "0"})])) == (0, 0)


def test_scores_add_nothing_to_what_a_pod_states_as_a_whole() -> None:
    whole = pod(containers=[container(), container()], resources={"requests": {"cpu": "2"}})

    assert scored_requests(whole) == (2000, 400 * MI)


def test_limits_add_up_with_overhead_on_what_is_limited() -> None:
    limited = pod(
        containers=[{"resources": {"limits": {"cpu": "1"}}}, {"resources": {"limits": {"cpu": "2"}}}],
        overhead={"cpu": "100m", "memory": "1Mi"},
    )

    assert pod_limits(limited) == {"cpu": 3100}


def test_what_could_not_be_added_up_over_a_cluster_is_refused() -> None:
    huge = pod(containers=[container({"memory": "7Pi"}), container({"memory": "7Pi"})])

    with pytest.raises(InputError, match=r"Pod default/p, spec.containers: 14Pi of memory .* \(accepted: at most 8Pi"):
        pod_requests(huge)


def test_a_bad_request_is_named_by_its_container() -> None:
    bad = pod(containers=[container({"cpu": "1"}), container({"cpu": "-1"})])

    with pytest.raises(InputError, match=r"spec.containers\[1\].resources.requests.cpu: '-1' is negative"):
        pod_requests(bad)
