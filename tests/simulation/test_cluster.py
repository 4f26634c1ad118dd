"""The simulated cluster: what pods live through, and what controllers do about it."""

from pathlib import Path

import pytest

from posse.errors import InputError
from posse.kube.manifests import read
from posse.kube.meta import rfc3339
from posse.kube.objects import Job, Pod
from posse.simulation.run import Run
from posse.simulation.scenario import Scenario
from tests.simulation.scenes import after, group, job, node, owner, phases, pod, run, step, template

HOUR_LATER, HOUR_BEFORE = "2026-01-01T01:00:00Z", "2025-12-31T23:00:00Z"
RUNNING = {"phase": "Running"}


def pod_of(ran: Run, name: str) -> Pod:
    found = ran.cluster.objects["", "Pod", "default", name]
    assert isinstance(found, Pod)
    return found


def fault(tmp_path: Path, *documents: str) -> str:
    """What is said of a file that cannot be taken."""
    file = tmp_path / "cluster.yaml"
    file.write_text("\n---\n".join(documents))
    with pytest.raises(InputError) as refusal:
        Run(Scenario(tuple(read([str(file)]))))
    return str(refusal.value).removeprefix(f"{tmp_path}/")


# ------------------------------------------------------------------ the life of a pod


def test_a_bound_pod_runs_when_the_next_cycle_begins() -> None:
    assert phases(run(node(), pod("a"), cycles=1)) == {"a": ""}
    assert phases(run(node(), pod("a"), cycles=2)) == {"a": "Running"}


def test_a_pod_that_comes_with_a_node_is_bound_first_and_runs_then() -> None:
    first, second = (run(node(), group("g", 1), pod("a", on="n1", group="g"), cycles=cycles) for cycles in (1, 2))
    assert first.history.verdicts["default/g"].running == 0
    assert first.history.verdicts["default/g"].ready == 1
    assert second.history.verdicts["default/g"].running == 1
    assert second.history.binds == {}


def test_a_pod_arrives_when_it_says() -> None:
    ran = run(node(), pod("a", arrival="30s"))
    assert ran.history.binds["default/a"].node == "n1"
    assert pod_of(ran, "a").metadata.creation_timestamp == "2026-01-01T00:00:30Z"
    assert pod_of(ran, "a").status.start_time == "2026-01-01T00:00:31Z"


def test_a_pod_that_has_not_arrived_takes_no_room() -> None:
    result = after(node(cpu="1"), pod("early", arrival="1h"), pod("now", run_time="10m"))
    assert result["binds"] == {"default/early": "n1", "default/now": "n1"}


def test_a_run_time_is_counted_from_when_the_pod_runs() -> None:
    result = after(node(), pod("a", run_time="10s"))
    assert result["time"] == 12.0
    assert result["gangs"]["default/a"]["succeeded"] == 1


def test_the_run_time_of_a_pod_that_comes_running_is_counted_from_its_start() -> None:
    began = {"phase": "Running", "startTime": "2025-12-31T23:59:30Z"}
    ran = run(node(), pod("a", on="n1", status=began, run_time="60s"))
    assert phases(ran) == {"a": "Succeeded"}
    assert rfc3339(ran.history.log[-1][0]) == "2026-01-01T00:00:31Z"


def test_a_pod_that_runs_and_does_not_say_since_when_began_with_the_run() -> None:
    ran = run(node(), pod("a", on="n1", status=RUNNING, run_time="60s"))
    assert rfc3339(ran.history.log[-1][0]) == "2026-01-01T00:01:01Z"


@pytest.mark.parametrize(
    ("word", "phase"), [("failed", "Failed"), ("3", "Failed"), ("0", "Succeeded"), ("succeeded", "Succeeded")]
)
def test_a_pod_ends_as_it_says(word: str, phase: str) -> None:
    assert phases(run(node(), pod("a", run_time="1s", exit=word))) == {"a": phase}


def test_a_pod_that_has_ended_gives_back_its_room() -> None:
    assert list(after(node(cpu="1"), pod("a", run_time="5s"), pod("b"))["binds"]) == ["default/a", "default/b"]


# ------------------------------------------------------------------ deletion


def test_a_terminating_pod_holds_its_room_until_it_is_gone() -> None:
    leaving = pod("old", on="n1", status=RUNNING, metadata={"deletionTimestamp": HOUR_LATER})
    ran = run(node(cpu="1"), leaving, pod("new"))
    assert phases(ran) == {"new": "Running"}
    assert pod_of(ran, "new").status.start_time >= HOUR_LATER


def test_a_pod_that_should_have_been_gone_is_stuck_and_holds_its_room() -> None:
    stuck = pod("old", on="n1", status=RUNNING, metadata={"deletionTimestamp": HOUR_BEFORE})
    result = after(node(cpu="1"), stuck, pod("new"))
    assert result["binds"] == {}
    assert result["warnings"] == [f"Pod default/old should have been gone by {HOUR_BEFORE}: it still holds its room"]


def test_deleting_what_is_not_there_is_warned_of() -> None:
    result = after(node(), steps=(step(0, delete="Pod nobody"),))
    assert result["warnings"] == ["nothing to delete: Pod default/nobody is not there"]


def test_gangs_that_are_named_in_a_way_that_is_not_read_are_warned_of_once_per_way() -> None:
    label = {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}
    result = after(
        node(),
        *(pod(f"p-{number}", metadata=label) for number in (10, 9, 8)),
        pod("k", metadata={"annotations": {"pod-group-name": "g"}}),
        steps=(step(2, pod("p-8", metadata=label)),),
    )
    assert result["warnings"] == [
        "annotation pod-group-name (KAI) is not read yet: Pod default/k is scheduled as a pod alone",
        "label scheduling.x-k8s.io/pod-group (coscheduling) is not read yet: "
        "Pod default/p-8 and 2 more are scheduled pod by pod",
    ]


def test_a_minimum_in_our_own_words_is_not_read_yet_wherever_it_stands() -> None:
    note = {"metadata": {"annotations": {"posse.dev/min-member": "2"}}}
    web = owner("Deployment", "web", replicas=1, template=template())
    web["metadata"] |= note["metadata"]

    result = after(node(), pod("p", **note), web)

    assert result["warnings"] == [
        "annotation posse.dev/min-member is not read yet: Pod default/p is scheduled as a pod alone",
        "annotation posse.dev/min-member is not read yet: Deployment default/web gets no gang by it",
    ]


# ------------------------------------------------------------------ owners


def test_a_deployment_replaces_a_deleted_pod_under_another_name() -> None:
    given = (node(), owner("Deployment", "web", replicas=1, selector={}, template=template()))
    (before,) = phases(run(*given))
    (after_deletion,) = phases(run(*given, steps=(step(2, delete=f"Pod {before}"),)))
    assert after_deletion != before


def test_a_stateful_set_replaces_a_deleted_pod_under_its_name() -> None:
    given = (node(), owner("StatefulSet", "db", replicas=2, template=template()))
    before, again = run(*given), run(*given, steps=(step(2, delete="Pod db-1"),))
    assert phases(again) == {"db-0": "Running", "db-1": "Running"}
    assert pod_of(again, "db-1").metadata.uid != pod_of(before, "db-1").metadata.uid


def test_a_pod_without_an_owner_does_not_come_back() -> None:
    assert phases(run(node(), pod("a"), steps=(step(2, delete="Pod a"),))) == {}


def test_a_job_starts_another_pod_for_each_that_succeeds_until_all_are_complete() -> None:
    ran = run(node(), job("j", completions=5, parallelism=2, run_time="10s"))
    assert phases(ran) == {f"j-{number}": "Succeeded" for number in range(5)}
    assert max(_running_at_once(ran)) == 2


def _running_at_once(ran: Run) -> list[int]:
    """How many pods were bound and had not ended, cycle by cycle."""
    standing: dict[str, bool] = {}
    counts = []
    for _, result in ran.history.log:
        for verdict in result.verdicts:
            standing[verdict.gang] = bool(verdict.ready and not verdict.succeeded)
        counts.append(sum(standing.values()))
    return counts


def test_a_job_gives_each_index_once() -> None:
    indexed = job("j", completions=3, parallelism=1, run_time="1s")
    indexed["spec"]["completionMode"] = "Indexed"
    pods = [thing for thing in run(node(), indexed).cluster.objects.values() if isinstance(thing, Pod)]
    indexes = [each.metadata.annotations["batch.kubernetes.io/job-completion-index"] for each in pods]
    assert sorted(indexes) == ["0", "1", "2"]


@pytest.mark.parametrize("completions", [None, 2])
def test_a_job_makes_up_for_pods_that_fail_until_it_gives_up(completions: int | None) -> None:
    failing = job("j", completions=2, parallelism=2, run_time="1s", exit="failed")
    failing["spec"] |= {"completions": completions, "backoffLimit": 2}

    ran = run(node(), failing)

    (owner,) = (thing for thing in ran.cluster.objects.values() if isinstance(thing, Job))
    assert list(phases(ran).values()) == ["Failed"] * 3  # those that still ran when it gave up are gone
    assert [(each.type, each.reason) for each in owner.status.conditions] == [("Failed", "BackoffLimitExceeded")]
    assert ran.cluster.warnings == ["Job default/j has failed: 3 of its pods failed, and its backoffLimit is 2"]
    assert ran.is_settled


def test_a_pod_that_failed_and_is_deleted_later_is_not_made_up_for_twice() -> None:
    failing = job("j", completions=1, parallelism=1, run_time="1s", exit="failed")
    failing["spec"]["backoffLimit"] = 1

    ran = run(node(), failing, steps=(step(8, delete="Pod j-0"),))

    assert list(phases(ran).values()) == ["Failed"]


def test_an_index_whose_pod_failed_is_given_again() -> None:
    indexed = job("j", completions=3, parallelism=2, run_time="1s", exit="failed")
    indexed["spec"] |= {"completionMode": "Indexed", "backoffLimit": 3}

    pods = [thing for thing in run(node(), indexed).cluster.objects.values() if isinstance(thing, Pod)]

    assert {each.metadata.annotations["batch.kubernetes.io/job-completion-index"] for each in pods} == {"0", "1"}


# ------------------------------------------------------------------ applying again


def test_a_pod_that_is_applied_again_stays_on_its_node() -> None:
    labelled = pod("a", metadata={"labels": {"tier": "gold"}})
    ran = run(node(), node("n2"), pod("a"), steps=(step(3, labelled),), cycles=5)
    stands = pod_of(ran, "a")
    assert (stands.spec.node_name, stands.status.phase) == (ran.history.binds["default/a"].node, "Running")
    assert stands.metadata.labels == {"tier": "gold"}
    assert [effect for _, result in ran.history.log for effect in result.effects] == [ran.history.binds["default/a"]]


def test_a_pod_that_is_applied_again_ends_once_and_on_time() -> None:
    ran = run(
        node(),
        job("j", 2, 1, run_time="10s"),
        steps=(step(2, pod("other", run_time="10s")), step(3, pod("other", run_time="10s"))),
    )
    assert phases(ran) == {"j-0": "Succeeded", "j-1": "Succeeded", "other": "Succeeded"}
    assert ran.cluster.ended == 3


def test_a_pod_may_be_applied_between_its_bind_and_its_start() -> None:
    ran = run(node(), pod("a", run_time="10s"), steps=(step(1, pod("a", run_time="10s")),))
    assert pod_of(ran, "a").status.start_time == "2026-01-01T00:00:01Z"
    assert ran.cluster.ended == 1


def test_a_node_that_is_applied_without_a_status_keeps_what_it_has() -> None:
    cordoned = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": {"unschedulable": True}}
    result = after(node(), pod("a"), steps=(step(2, cordoned, pod("b")),))
    assert result["binds"] == {"default/a": "n1"}
    assert result["nodes"]["n1"]["allocatable"]["cpu"] == "4"


def test_a_status_that_is_given_counts() -> None:
    ran = run(node(), pod("a"), steps=(step(3, pod("a", on="n1", status={"phase": "Failed"})),))
    assert phases(ran) == {"a": "Failed"}


def test_a_pod_that_comes_after_one_of_its_name_was_deleted_is_another() -> None:
    ran = run(node(), pod("a"), steps=(step(2, delete="Pod a"), step(4, pod("a"))))
    bound = [effect for _, result in ran.history.log for effect in result.effects]
    assert len({effect.uid for effect in bound}) == 2


# ------------------------------------------------------------------ faults

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}}"


def written(kind: str, metadata: str, spec: str, version: str = "v1") -> str:
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n"


ASKS_FOR_LOTS = "{containers: [{name: c, resources: {requests: {cpu: lots}}}]}"


def test_a_fault_that_shows_when_a_pod_is_admitted_names_its_document(tmp_path: Path) -> None:
    said = fault(tmp_path, NODE, written("Pod", "{name: a}", "{priorityClassName: high}"))
    assert said.startswith("cluster.yaml, line 3, document 2, Pod default/a, spec.priorityClassName: ")


def test_a_fault_that_shows_when_a_pod_is_translated_names_its_document(tmp_path: Path) -> None:
    said = fault(tmp_path, NODE, written("Pod", "{name: a, namespace: x}", ASKS_FOR_LOTS))
    assert said.startswith("cluster.yaml, line 3, document 2, Pod x/a, spec.containers[0]")


def test_a_fault_of_a_pod_that_arrives_later_is_said_at_once(tmp_path: Path) -> None:
    late = "{name: a, annotations: {posse.dev/arrival: 1h}}"
    assert "Pod default/a, spec.containers[0]" in fault(tmp_path, written("Pod", late, ASKS_FOR_LOTS))


def test_a_fault_of_a_made_pod_names_the_document_of_its_owner(tmp_path: Path) -> None:
    made = "{template: {spec: {priorityClassName: high}}}"
    said = fault(tmp_path, NODE, written("Deployment", "{name: web}", made, version="apps/v1"))
    assert said.startswith("cluster.yaml, line 3, document 2, Pod default/web-")


def test_an_object_without_a_name_is_found_by_its_document(tmp_path: Path) -> None:
    said = fault(tmp_path, NODE, written("Pod", "{}", "{}"))
    assert said.startswith("cluster.yaml, line 3, document 2, Pod, metadata.name: is missing")
