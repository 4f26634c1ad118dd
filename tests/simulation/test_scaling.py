"""A step changes or deletes a workload, and its pods follow."""

from typing import Any

import pytest

from posse.simulation.result import result_of
from posse.simulation.run import Run
from posse.simulation.scenario import Step
from tests.simulation.scenes import Manifest, job, node, owner, phases, pod, run, step, template

ROOM = node(cpu="32", memory="64Gi")


def deployment(replicas: int, **of: Any) -> Manifest:
    return owner("Deployment", "web", replicas=replicas, template=template(**of))


def replica_set(replicas: int) -> Manifest:
    return owner("ReplicaSet", "web", replicas=replicas, template=template())


def stateful_set(replicas: int) -> Manifest:
    return owner("StatefulSet", "db", replicas=replicas, template=template())


def volcano_job(replicas: int, minimum: int) -> Manifest:
    task = {"name": "worker", "replicas": replicas, "template": template()}
    return owner("Job", "v", version="batch.volcano.sh/v1alpha1", minAvailable=minimum, tasks=[task])


def names(*manifests: Manifest, steps: tuple[Step, ...]) -> list[str]:
    return sorted(phases(run(ROOM, *manifests, steps=steps)))


def warnings(of: Run) -> list[str]:
    told: list[str] = result_of(of, lambda _: None)["warnings"]
    return told


# ------------------------------------------------------------------ deleted


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (deployment(2), "Deployment web"),
        (replica_set(2), "ReplicaSet web"),
        (stateful_set(2), "StatefulSet db"),
        (job("j", 3, 2), "Job j"),
        (volcano_job(2, 2), "Job v"),
    ],
)
def test_what_belongs_to_a_deleted_workload_goes_with_it(made: Manifest, name: str) -> None:
    ran = run(ROOM, made, pod("other"), steps=(step(3, delete=name),))

    assert list(phases(ran)) == ["other"]
    assert {identity[1] for identity in ran.cluster.objects} & {"ReplicaSet", "PodGroup"} == set()


def test_pods_of_a_deleted_workload_do_not_arrive_any_more() -> None:
    assert (
        names(
            owner("ReplicaSet", "web", replicas=2, template=template(arrival="1m")),
            steps=(step(1, delete="ReplicaSet web"),),
        )
        == []
    )


def test_what_somebody_else_owns_as_well_stays() -> None:
    both = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name} for name in ("web", "also")]
    also = {**replica_set(0), "metadata": {"name": "also"}}

    assert names(
        replica_set(0), also, pod("p", metadata={"ownerReferences": both}), steps=(step(1, delete="ReplicaSet web"),)
    ) == ["p"]


# ------------------------------------------------------------------ scaled


@pytest.mark.parametrize(
    ("before", "after", "pods"),
    [
        (replica_set(2), replica_set(4), ["web-0", "web-1", "web-2", "web-3"]),
        (replica_set(4), replica_set(2), ["web-0", "web-1"]),
        (replica_set(2), replica_set(0), []),
        (stateful_set(1), stateful_set(3), ["db-0", "db-1", "db-2"]),
        (stateful_set(3), stateful_set(1), ["db-0"]),
        (job("j", 5, 1), job("j", 5, 3), ["j-0", "j-1", "j-2"]),
        (volcano_job(1, 1), volcano_job(3, 1), ["v-worker-0", "v-worker-1", "v-worker-2"]),
        (volcano_job(3, 1), volcano_job(1, 1), ["v-worker-0"]),
    ],
)
def test_a_workload_that_is_applied_again_has_as_many_pods_as_it_wants(
    before: Manifest, after: Manifest, pods: list[str]
) -> None:
    assert names(before, steps=(step(3, after),)) == pods


def test_a_deployment_hands_its_number_on_to_its_replica_set() -> None:
    grown = names(deployment(1), steps=(step(2, deployment(3)),))

    assert len(grown) == 3
    assert names(deployment(1), steps=(step(2, deployment(0)), step(4, deployment(3)))) == grown


def test_names_that_are_taken_are_passed_over_when_a_pod_is_replaced() -> None:
    steps = (step(2, delete="Pod web-1"), step(3, replica_set(3)), step(4, delete="Pod web-0"))

    assert names(replica_set(2), steps=steps) == ["web-1", "web-3", "web-6"]


def test_pods_that_wait_leave_before_those_with_a_node() -> None:
    grown = run(node(cpu="1"), replica_set(3), steps=(step(3, replica_set(1)),))

    assert list(phases(grown).values()) == ["Running"]


def test_the_group_of_a_volcano_job_follows_its_minimum() -> None:
    ran = run(node(cpu="2"), volcano_job(3, 3), steps=(step(2, volcano_job(3, 2)),))

    (gang,) = result_of(ran, lambda _: None)["gangs"].values()
    assert (gang["min"], gang["ready"]) == (2, 2)


def test_a_workload_that_is_applied_as_it_was_changes_nothing() -> None:
    ran = run(
        ROOM, replica_set(3), pod("web-x", metadata={"ownerReferences": [_of("web")]}), steps=(step(2, replica_set(3)),)
    )

    assert list(phases(ran)) == ["web-x"]
    assert warnings(ran) == []


def test_another_template_has_no_effect_on_pods_that_are_there_and_that_is_said() -> None:
    ran = run(ROOM, deployment(1), steps=(step(2, deployment(1, cpu="2")),))

    assert warnings(ran) == ["Deployment default/web has another template now: pods that are there keep theirs"]


def test_a_deployment_whose_replica_set_is_not_in_the_input_says_so() -> None:
    theirs = {"labels": {"pod-template-hash": "7f9"}, "ownerReferences": [_of("web-7f9")]}
    ran = run(ROOM, deployment(1), pod("web-7f9-a", metadata=theirs), steps=(step(2, deployment(2)),))

    (warning,) = warnings(ran)
    assert warning == "Deployment default/web has no ReplicaSet in the input: its new number of pods has no effect"


def _of(name: str) -> Manifest:
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "controller": True}
