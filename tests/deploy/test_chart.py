"""The chart says what it should, refuses what it cannot use, and is what the plain manifests are made of."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import posse
from posse.scheduler.configuration import DEFAULT_CONF
from tests.deploy.helm import CHART, Helm, HelmError, Manifest
from tests.deploy.rendering import FOLDER, plain


def pod_of(deployment: Manifest) -> dict[str, Any]:
    spec: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return spec


def container_of(deployment: Manifest) -> dict[str, Any]:
    (container,) = pod_of(deployment)["containers"]
    return dict(container)


def test_helm_finds_no_fault(helm: Helm) -> None:
    assert "0 chart(s) failed" in helm.run("lint", "--strict", CHART)


@pytest.mark.parametrize("name", ["posse.yaml", "rbac.yaml"])
def test_the_plain_manifests_are_the_chart_with_its_defaults(helm: Helm, name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == plain(helm)[name], "python -m tests.deploy.rendering"


def test_chart_and_program_are_of_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))

    assert chart["version"] == chart["appVersion"] == posse.__version__


def test_the_configuration_is_the_default_unless_another_is_given(helm: Helm) -> None:
    usual, own = helm.manifests(), helm.manifests({"configuration": 'actions: "allocate"\n'})

    assert usual.the("ConfigMap")["data"]["scheduler.conf"] == DEFAULT_CONF
    assert own.the("ConfigMap")["data"]["scheduler.conf"] == 'actions: "allocate"\n'


def test_two_stand_ready_and_may_do_nothing_to_their_node(helm: Helm) -> None:
    deployment = helm.manifests().the("Deployment")

    assert deployment["spec"]["replicas"] == 2
    assert pod_of(deployment)["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container_of(deployment)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_lease_is_one_that_it_may_take(helm: Helm) -> None:
    manifests = helm.manifests(name="night", namespace="batch")
    named = [rule for rule in manifests.the("Role")["rules"] if "resourceNames" in rule]

    assert "--lease=batch/night" in container_of(manifests.the("Deployment"))["args"]
    assert [rule["resourceNames"] for rule in named] == [["night"]]
    assert manifests.the("Role")["metadata"]["namespace"] == "batch"


def test_everything_that_stays_in_a_namespace_goes_where_it_is_installed(helm: Helm) -> None:
    manifests = helm.manifests(name="night", namespace="batch")

    outside = {each["kind"] for each in manifests if each["metadata"].get("namespace") != "batch"}
    assert outside == {"ClusterRole", "ClusterRoleBinding", "PriorityClass"}
    assert all(each["metadata"]["name"].startswith("night") for each in manifests)


def test_what_selects_its_pods_finds_them(helm: Helm) -> None:
    manifests = helm.manifests({"podLabels": {"team": "batch"}})
    labels = manifests.the("Deployment")["spec"]["template"]["metadata"]["labels"]
    selectors = [
        manifests.the("Deployment")["spec"]["selector"]["matchLabels"],
        manifests.the("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        manifests.the("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        manifests.the("Service")["spec"]["selector"],
    ]

    assert all(selector and selector.items() <= labels.items() for selector in selectors)
    assert labels["team"] == "batch"


def test_what_is_not_wanted_is_left_out(helm: Helm) -> None:
    absent = {"create": False}
    manifests = helm.manifests({"networkPolicy": absent, "podDisruptionBudget": absent, "priorityClass": absent})

    assert not manifests.kinds & {"NetworkPolicy", "PodDisruptionBudget", "PriorityClass"}
    assert "priorityClassName" not in pod_of(manifests.the("Deployment"))


def test_a_priority_class_that_exists_is_used(helm: Helm) -> None:
    manifests = helm.manifests({"priorityClass": {"create": False, "name": "system-cluster-critical"}})

    assert pod_of(manifests.the("Deployment"))["priorityClassName"] == "system-cluster-critical"


def test_nobody_reads_metrics_unless_they_are_let_in(helm: Helm) -> None:
    spec = helm.manifests().the("NetworkPolicy")["spec"]

    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["ingress"] == []


def test_who_talks_to_whom_is_chosen(helm: Helm) -> None:
    monitoring = {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}
    policy = {"metricsFrom": [monitoring], "apiServerBlocks": ["10.0.0.1/32"], "apiServerPorts": [6443]}

    spec = helm.manifests({"networkPolicy": policy}).the("NetworkPolicy")["spec"]

    assert [each["from"] for each in spec["ingress"]] == [[monitoring]]
    assert spec["egress"] == [
        {"ports": [{"protocol": "TCP", "port": 6443}], "to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}]}
    ]


def test_what_is_given_reaches_the_program(helm: Helm) -> None:
    values = {
        "schedulerNames": ["posse", "volcano"],
        "port": 9000,
        "logFormat": "text",
        "extraArgs": ["--compatibility=upstream"],
        "image": {"repository": "registry.example.com/posse", "tag": "new"},
    }
    container = container_of(helm.manifests(values).the("Deployment"))

    assert container["image"] == "registry.example.com/posse:new"
    assert {
        "--scheduler-names=posse,volcano",
        "--listen=:9000",
        "--log-format=text",
        "--compatibility=upstream",
    } <= set(container["args"])
    assert container["ports"] == [{"name": "http", "containerPort": 9000}]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"replicas": "two"}, "/replicas"),
        ({"replica": 3}, "replica"),
        ({"schedulerNames": []}, "/schedulerNames"),
        ({"schedulerNames": ["posse,volcano"]}, "/schedulerNames"),
        ({"image": {"pullPolicy": "Sometimes"}}, "/image/pullPolicy"),
        ({"image": {"repository": ""}}, "/image/repository"),
        ({"logFormat": "xml"}, "/logFormat"),
        ({"port": 80}, "/port"),
        ({"priorityClass": {"value": 2000000000}}, "/priorityClass/value"),
        ({"extraArgs": "--dry-run"}, "/extraArgs"),
        ({"networkPolicy": {"apiServerBlocks": ["10.0.0.1"]}}, "/networkPolicy/apiServerBlocks"),
    ],
)
def test_wrong_values_are_refused_by_name(helm: Helm, values: dict[str, Any], named: str) -> None:
    with pytest.raises(HelmError, match=named):
        helm.manifests(values)


def test_every_value_is_described_by_the_schema() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    schema = yaml.safe_load((CHART / "values.schema.json").read_text("utf-8"))

    def missing(value: object, described: dict[str, Any], at: str) -> list[str]:
        known = described.get("properties")
        if not isinstance(value, dict) or known is None:
            return []
        return [
            fault
            for key, each in value.items()
            for fault in (missing(each, known[key], f"{at}.{key}") if key in known else [f"{at}.{key}"])
        ]

    assert missing(values, schema, "") == []


def test_the_image_runs_as_the_user_that_the_chart_says(helm: Helm) -> None:
    dockerfile = (Path(CHART).parents[1] / "Dockerfile").read_text("utf-8")
    user = pod_of(helm.manifests().the("Deployment"))["securityContext"]

    assert f"USER {user['runAsUser']}:{user['runAsGroup']}\n" in dockerfile
