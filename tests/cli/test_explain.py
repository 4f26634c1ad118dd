"""`posse explain`: the right gang by any name, and its explanation."""

import json

import pytest
import yaml

from tests.cli.manifests import Manifest, deployment, job, node, pod
from tests.cli.posse import Posse

CLUSTER: list[Manifest] = [
    node("n1", 4),
    job("train", 3, 2, namespace="team-a"),
    deployment("web", 1, namespace="team-b"),
    pod("lone", 8, namespace="team-b"),
]

NAMES = {
    "a gang": ("train", "team-a/train-"),
    "a gang with its namespace": ("team-a/train", "team-a/train-"),
    "a job by its kind": ("Job/train", "team-a/train-"),
    "a job in lower case": ("job/train", "team-a/train-"),
    "a pod of a gang": ("train-worker-1", "team-a/train-"),
    "a pod by its kind and namespace": ("team-a/Pod/train-worker-1", "team-a/train-"),
    "a workload above another": ("Deployment/web", "team-b/web-"),
    "a workload by its name alone": ("web", "team-b/web-"),
    "a lone pod": ("team-b/lone", "team-b/lone"),
    "a lone pod by its kind": ("pod/lone", "team-b/lone"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_gang_is_found_by_every_name_that_someone_may_know(name: str, posse: Posse) -> None:
    asked, meant = NAMES[name]

    result = posse.on("explain", CLUSTER, asked, "-o", "json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["gang"].startswith(meant)


def test_a_gang_is_found_by_the_name_that_programs_know(posse: Posse) -> None:
    (name,) = (name for name in posse.record(CLUSTER)["gangs"] if name.startswith("team-a/train-"))

    assert json.loads(posse.on("explain", CLUSTER, name, "-o", "json").stdout)["gang"] == name


@pytest.mark.parametrize("name", ["g", "default/g", "g-1", "pod/g-1"])
def test_a_gang_that_nobody_declared_is_found_and_explained(name: str, posse: Posse) -> None:
    members = [pod(f"g-{n}", 1) for n in range(2)]
    for member in members:
        member["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "g"}

    record = json.loads(posse.on("explain", [node("n1"), *members], name, "-o", "json").stdout)

    assert (record["gang"], record["state"]) == ("default/g", "waiting")
    assert "there is no such group" in record["blockers"][0]["message"]


def test_an_unknown_name_is_answered_with_the_nearest(posse: Posse) -> None:
    result = posse.on("explain", CLUSTER, "trian")

    assert result.exit_code == 2
    assert "there is no 'trian'; the nearest names are train" in result.stderr
    assert "NAMESPACE/KIND/NAME" in result.stderr


def test_a_name_that_fits_several_gangs_is_asked_back(posse: Posse) -> None:
    twins = [node("n1"), job("train", 1, namespace="a"), job("train", 1, namespace="b")]

    result = posse.on("explain", twins, "train")

    assert result.exit_code == 2
    assert "'train' means several gangs" in result.stderr
    assert "accepted: a/train, b/train" in result.stderr


LONE_PODS: list[Manifest] = [node("n1", 2), deployment("web", 4), pod("web", 8, namespace="b")]


def test_a_workload_of_several_gangs_is_answered_by_the_first_that_waits(posse: Posse) -> None:
    explained = json.loads(posse.on("explain", LONE_PODS, "Deployment/web", "-o", "json").stdout)

    assert explained["workload"] == {"name": "Deployment default/web", "pods": 4, "waiting": 2}
    assert explained["gang"].startswith("default/web-")
    assert explained["state"] == "waiting"


def test_a_person_is_told_how_many_pods_of_a_workload_wait(posse: Posse) -> None:
    shown = posse.on("explain", LONE_PODS, "deployment/web").stdout

    assert shown.startswith("Deployment default/web: 2 of its 4 pods wait; this is the first that does.")


def test_a_workload_and_a_pod_of_one_name_are_asked_back(posse: Posse) -> None:
    result = posse.on("explain", LONE_PODS, "web")

    assert result.exit_code == 2
    assert "accepted: b/web, default/Deployment/web" in result.stderr
    assert json.loads(posse.on("explain", LONE_PODS, "b/web", "-o", "json").stdout)["gang"] == "b/web"


def test_a_gang_is_found_by_its_pod_group(posse: Posse) -> None:
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "blue", "namespace": "team-a"},
        "spec": {"minMember": 2},
    }

    result = posse.on("explain", [*CLUSTER, group], "PodGroup/blue", "-o", "json")

    assert json.loads(result.stdout)["gang"] == "team-a/blue"


def test_an_empty_name_is_refused(posse: Posse) -> None:
    result = posse.on("explain", CLUSTER, "")

    assert result.exit_code == 2
    assert "NAME: is empty" in result.stderr


def test_programs_get_the_explanation_as_results_have_it(posse: Posse) -> None:
    explained = json.loads(posse.on("explain", CLUSTER, "train", "-o", "json").stdout)
    gang = explained.pop("gang")

    assert explained == posse.record(CLUSTER)["gangs"][gang]["explanation"]
    assert explained["state"] == "waiting"
    assert explained["blockers"]


def test_yaml_is_the_same_explanation(posse: Posse) -> None:
    as_yaml, as_json = (posse.on("explain", CLUSTER, "train", "-o", form).stdout for form in ("yaml", "json"))

    assert yaml.safe_load(as_yaml) == json.loads(as_json)


def test_a_person_reads_what_blocks_and_what_would_help(posse: Posse) -> None:
    result = posse.on("explain", CLUSTER, "train")

    assert result.exit_code == 0
    assert result.stdout.startswith("team-a/train ")
    assert [line for line in result.stdout.splitlines() if line.isupper()] == [
        "WHAT BLOCKS IT",
        "WHAT WOULD HELP",
        "ITS PLACE",
    ]
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_gang_that_runs_is_said_to_run(posse: Posse) -> None:
    shown = posse.on("explain", CLUSTER, "web").stdout

    assert "running: 1 of 1 pod ready, on n1" in shown
    assert "WHAT BLOCKS IT" not in shown
