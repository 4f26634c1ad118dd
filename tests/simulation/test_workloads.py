"""Owners become their pods, unless their pods are there already."""

from typing import Any

from posse.kube.meta import KubeObject
from posse.kube.objects import Pod
from posse.simulation.admission import Admission
from posse.simulation.workloads import Expansion, expand
from tests.kube.builders import NOW, node, pod, thing

POD = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}


def deployment(name: str = "web", replicas: int = 2) -> KubeObject:
    return thing("apps/v1", "Deployment", name, "default", spec={"replicas": replicas, "template": POD})


def replica_set(name: str = "web-1", replicas: int = 2, **metadata: Any) -> KubeObject:
    spec = {"replicas": replicas, "template": POD}
    return thing("apps/v1", "ReplicaSet", name, "default", metadata=metadata, spec=spec)


def stateful_set(**spec: Any) -> KubeObject:
    return thing("apps/v1", "StatefulSet", "db", "default", spec={"template": POD, **spec})


def job(**spec: Any) -> KubeObject:
    status = spec.pop("status", {})
    return thing("batch/v1", "Job", "j", "default", spec={"template": POD, **spec}, status=status)


def daemon_set(**template_spec: Any) -> KubeObject:
    template = {"spec": {"containers": [{"name": "c"}], **template_spec}}
    return thing("apps/v1", "DaemonSet", "ds", "default", spec={"template": template})


def owned_by(kind: str, name: str, **labels: str) -> dict[str, Any]:
    version = "apps/v1" if kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet") else "batch/v1"
    owner = {"apiVersion": version, "kind": kind, "name": name, "controller": True}
    return {"ownerReferences": [owner], "labels": labels}


def expanded(*things: KubeObject) -> Expansion:
    admission = Admission()
    return expand(admission.admit(things, NOW), lambda made: admission.admit(made, NOW))


def made(*things: KubeObject) -> list[str]:
    return [str(one) for one in expanded(*things).made]


def test_a_stateful_sets_pods_are_numbered() -> None:
    assert made(stateful_set(replicas=2, ordinals={"start": 5})) == ["Pod default/db-5", "Pod default/db-6"]


def test_a_deployment_makes_a_replica_set_and_that_its_pods() -> None:
    replicas, first, second = expanded(deployment()).made

    assert (replicas.kind_name, replicas.metadata.name[:4]) == ("ReplicaSet", "web-")
    assert [one.metadata.name for one in (first, second)] == [f"{replicas.metadata.name}-{i}" for i in (0, 1)]
    assert first.metadata.labels.keys() == {"app", "pod-template-hash"}


def test_pods_know_their_owner_by_uid_and_it_controls_them() -> None:
    replicas, first, _ = expanded(deployment()).made
    owner = first.controller

    assert owner is not None
    assert (owner.kind, owner.name, owner.uid) == ("ReplicaSet", replicas.metadata.name, replicas.metadata.uid)


def test_pods_are_admitted_like_any_other() -> None:
    first = expanded(stateful_set(replicas=1)).made[0]

    assert isinstance(first, Pod)
    assert first.metadata.uid
    assert (first.spec.priority, first.spec.scheduler_name) == (0, "default-scheduler")


def test_names_are_the_same_each_time_and_follow_from_the_template() -> None:
    assert made(deployment()) == made(deployment())
    assert made(deployment())[0].removeprefix("ReplicaSet default/web-") != "1"


def test_a_job_runs_its_parallelism_at_most_its_completions() -> None:
    assert len(made(job())) == 1
    assert len(made(job(parallelism=3, completions=5))) == 3
    assert len(made(job(parallelism=3, completions=2))) == 2


def test_an_indexed_job_tells_each_pod_its_index() -> None:
    pods = expanded(job(parallelism=2, completions=2, completionMode="Indexed")).made
    key = "batch.kubernetes.io/job-completion-index"

    assert [one.metadata.annotations[key] for one in pods] == ["0", "1"]


def test_a_job_that_is_suspended_or_over_runs_nothing() -> None:
    over = {"conditions": [{"type": "Complete", "status": "True"}]}

    assert (made(job(suspend=True)), made(job(status=over))) == ([], [])


def test_a_daemon_set_has_a_pod_on_each_node_that_suits_it() -> None:
    zoned = thing("v1", "Node", "far", metadata={"labels": {"zone": "b"}}, status={"allocatable": {"cpu": "1"}})
    tainted = node("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    cordoned = node("resting", taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}])
    soft = node("soft", taints=[{"key": "x", "effect": "PreferNoSchedule"}])
    nodes = [zoned, tainted, cordoned, soft]

    assert made(daemon_set(), *nodes) == ["Pod default/ds-far", "Pod default/ds-resting", "Pod default/ds-soft"]
    assert made(daemon_set(nodeSelector={"zone": "b"}), *nodes) == ["Pod default/ds-far"]
    assert made(daemon_set(tolerations=[{"key": "gpu", "operator": "Exists"}]), tainted) == ["Pod default/ds-gpu"]


def test_a_daemon_may_go_to_its_own_node_only() -> None:
    daemon = expanded(daemon_set(), node("n")).made[0]

    assert isinstance(daemon, Pod)
    required = daemon.spec.affinity.node_affinity.required
    assert required is not None
    assert required.node_selector_terms[0].match_fields[0].values == ("n",)


def test_an_owner_that_has_a_pod_is_not_expanded() -> None:
    theirs = pod("web-1-abc", metadata=owned_by("ReplicaSet", "web-1"))

    assert made(replica_set(), theirs) == []


def test_a_deployment_whose_replica_set_has_pods_is_not_expanded() -> None:
    theirs = pod("web-1-abc", metadata=owned_by("ReplicaSet", "web-1"))

    assert made(deployment(), replica_set(**owned_by("Deployment", "web")), theirs) == []


def test_a_deployments_own_replica_set_makes_the_pods_if_there_are_none() -> None:
    found = made(deployment(), replica_set(**owned_by("Deployment", "web")))

    assert found == ["Pod default/web-1-0", "Pod default/web-1-1"]


def test_a_deployment_is_not_doubled_when_the_dump_left_out_its_replica_set() -> None:
    theirs = pod("web-7f9-abc", metadata=owned_by("ReplicaSet", "web-7f9", **{"pod-template-hash": "7f9"}))

    assert made(deployment(), theirs) == []


def test_what_belongs_to_itself_is_expanded_as_if_nobody_owned_it() -> None:
    found = expanded(replica_set(replicas=1, **owned_by("ReplicaSet", "web-1")))

    assert [str(one) for one in found.made] == ["Pod default/web-1-0"]
    assert found.warnings == [
        "ReplicaSet default/web-1 belongs to itself by its ownerReferences: taken as if it had no owner"
    ]


def test_a_circle_of_owners_is_expanded_and_each_of_it_named() -> None:
    there = replica_set("there", 1, **owned_by("ReplicaSet", "back"))
    back = replica_set("back", 1, **owned_by("ReplicaSet", "there"))

    found = expanded(there, back)

    assert sorted(str(one) for one in found.made) == ["Pod default/back-0", "Pod default/there-0"]
    assert [text.split(" belongs")[0] for text in found.warnings] == [
        "ReplicaSet default/back",
        "ReplicaSet default/there",
    ]


def test_the_pods_of_what_belongs_to_itself_are_not_doubled() -> None:
    itself = replica_set(replicas=2, **owned_by("ReplicaSet", "web-1"))

    assert made(itself, pod("web-1-x", metadata=owned_by("ReplicaSet", "web-1"))) == []


def test_the_pods_of_another_group_or_namespace_do_not_count() -> None:
    other_group = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j", "controller": True}
    elsewhere = pod("a", "elsewhere", metadata=owned_by("Job", "j"))

    assert made(job(), pod("b", metadata={"ownerReferences": [other_group]}), elsewhere) == ["Pod default/j-0"]


def test_a_cron_job_is_not_run_and_that_is_said() -> None:
    cron = thing("batch/v1", "CronJob", "nightly", "default")
    expansion = expanded(cron)

    assert expansion.made == []
    assert expansion.warnings == ["CronJob default/nightly is not run: the calendar is not simulated"]


def test_an_owner_of_an_unknown_kind_makes_nothing() -> None:
    assert made(thing("kubeflow.org/v1", "PyTorchJob", "train", "default")) == []


def test_owners_that_arrive_later_see_the_nodes_that_were_there() -> None:
    admission = Admission()
    there = admission.admit([node("n")], NOW)
    late = admission.admit([daemon_set()], NOW)

    found = expand(late, lambda children: admission.admit(children, NOW), there)

    assert [str(one) for one in found.made] == ["Pod default/ds-n"]
