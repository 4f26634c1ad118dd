"""What comes back when a pod is lost."""

from typing import Any

import pytest
from msgspec import structs

from posse.kube.meta import KubeObject
from posse.kube.objects import Pod
from posse.kube.pods import PodStatus
from posse.simulation.admission import Admission
from posse.simulation.workloads import expand, next_worker, recreate
from tests.kube.builders import NOW, node, pod, thing

POD = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}


def world(*things: KubeObject) -> dict[str, KubeObject]:
    """Objects and what they made, by kind and name."""
    admission = Admission()
    given = admission.admit(things, NOW)
    every = [*given, *expand(given, lambda made: admission.admit(made, NOW)).made]
    return {f"{one.kind_name} {one.metadata.name}": one for one in every}


def owner(kind: str, name: str, version: str = "apps/v1", **spec: Any) -> KubeObject:
    return thing(version, kind, name, "default", spec={"template": POD, **spec})


def again(there: dict[str, KubeObject], kind: str, lost: str) -> Pod:
    gone = there[f"Pod {lost}"]
    assert isinstance(gone, Pod)
    found = recreate(there[kind], gone)
    assert found is not None
    return found


def test_a_stateful_sets_pod_comes_back_under_its_name_as_another() -> None:
    there = world(owner("StatefulSet", "db", replicas=2))
    found = again(there, "StatefulSet db", "db-1")

    assert (found.metadata.name, found.metadata.uid) == ("db-1", "")


def test_a_replica_comes_back_under_a_name_that_was_never_used() -> None:
    there = world(owner("ReplicaSet", "web", replicas=3))
    second = again(there, "ReplicaSet web", "web-1")
    third = again({**there, "Pod web-4": second}, "ReplicaSet web", "web-4")

    assert (second.metadata.name, third.metadata.name) == ("web-4", "web-7")


def test_a_deployment_brings_back_a_pod_of_its_replica_set() -> None:
    there = world(owner("Deployment", "web", replicas=1))
    lost = next(one for one in there.values() if isinstance(one, Pod))
    found = recreate(there["Deployment web"], lost)

    assert found is not None
    assert found.controller == lost.controller
    assert found.metadata.labels == lost.metadata.labels
    assert found.metadata.name == lost.metadata.name[:-1] + "1"


def test_a_pod_with_a_name_from_a_real_cluster_gets_a_made_up_one() -> None:
    owned = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    there = world(owner("ReplicaSet", "web", replicas=1), pod("web-x7k2p", metadata={"ownerReferences": [owned]}))
    found = again(there, "ReplicaSet web", "web-x7k2p")

    assert found.metadata.name.startswith("web-")
    assert found.metadata.name != "web-x7k2p"
    assert found == again(there, "ReplicaSet web", "web-x7k2p")


def test_a_jobs_pod_keeps_its_index() -> None:
    there = world(owner("Job", "j", "batch/v1", completions=2, parallelism=2, completionMode="Indexed"))
    found = again(there, "Job j", "j-1")

    key = "batch.kubernetes.io/job-completion-index"
    assert (found.metadata.name, found.metadata.annotations[key]) == ("j-3", "1")
    assert found.metadata.labels["job-name"] == "j"


def test_a_daemon_comes_back_on_its_node() -> None:
    there = world(owner("DaemonSet", "ds"), node("n"))
    found = again(there, "DaemonSet ds", "ds-n")

    required = found.spec.affinity.node_affinity.required
    assert required is not None
    assert required.node_selector_terms[0].match_fields[0].values == ("n",)
    assert found.metadata.name != "ds-n"


def test_what_comes_back_has_no_node_and_no_status() -> None:
    there = world(owner("StatefulSet", "db", replicas=1))
    lost = pod("db-0", nodeName="n", status={"phase": "Running"})
    found = recreate(there["StatefulSet db"], lost)

    assert found is not None
    assert (found.spec.node_name, found.status.phase) == ("", "")


def workers(there: dict[str, KubeObject], *succeeded: str) -> list[Pod]:
    """A Job's pods, some of them done."""
    pods = [one for one in there.values() if isinstance(one, Pod)]
    done = PodStatus(phase="Succeeded")
    return [structs.replace(one, status=done) if one.metadata.name in succeeded else one for one in pods]


def test_a_job_goes_on_until_it_has_its_completions() -> None:
    there = world(owner("Job", "j", "batch/v1", completions=3, parallelism=2))
    pods = workers(there, "j-0")
    third = next_worker(there["Job j"], pods[0], pods)

    assert third is not None
    assert third.metadata.name == "j-2"
    assert next_worker(there["Job j"], pods[0], [*pods, third]) is None


def test_an_indexed_job_goes_on_with_the_first_free_index() -> None:
    there = world(owner("Job", "j", "batch/v1", completions=3, parallelism=2, completionMode="Indexed"))
    pods = workers(there, "j-1")
    third = next_worker(there["Job j"], pods[1], pods)

    assert third is not None
    assert third.metadata.annotations["batch.kubernetes.io/job-completion-index"] == "2"


def test_a_job_without_a_number_of_completions_starts_no_further_pod() -> None:
    there = world(owner("Job", "j", "batch/v1", parallelism=2))
    pods = workers(there, "j-0")

    assert next_worker(there["Job j"], pods[0], pods) is None


@pytest.mark.parametrize(
    "gone",
    [
        owner("ReplicaSet", "web", replicas=0),
        owner("Job", "j", "batch/v1", suspend=True),
        thing("x.io/v1", "Widget", "w", "default"),
        thing("batch/v1", "CronJob", "c", "default"),
    ],
    ids=["scaled to nothing", "suspended", "unknown kind", "calendar"],
)
def test_some_owners_bring_nothing_back(gone: KubeObject) -> None:
    assert recreate(gone, pod("web-0")) is None
