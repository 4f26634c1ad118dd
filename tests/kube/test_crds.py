"""Volcano's kinds on a real API server: what users write is taken, what is wrong is not, tables look as they know."""

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import yaml

from posse.kube.crds.definitions import as_manifests, definitions
from posse.kube.meta import KubeObject, Metadata
from posse.kube.objects import PodGroup, Queue, VolcanoJob
from posse.kube.workloads import PodTemplate
from tests.cluster.client import RefusedError
from tests.cluster.control_plane import ControlPlane, KubectlError
from tests.kube.crd_samples import GROUPS, REFUSED, TAKEN, TASK, Spec, thing

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(
    path for path in (ROOT / "examples").rglob("*.yaml") if "volcano.sh/v1" in path.read_text(encoding="utf-8")
)


def applied(plane: ControlPlane, namespace: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """What the server would make of a manifest."""
    words = ("apply", "--dry-run=server", "--validate=strict", "-n", namespace, "-o", "json", "-f", "-")
    answer: dict[str, Any] = json.loads(plane.kubectl(*words, stdin=json.dumps(manifest)))
    return answer


def holds(there: Any, given: Any) -> bool:
    """Whether nothing that was given is missing; more may have come to it."""
    if isinstance(given, dict):
        return isinstance(there, dict) and all(holds(there.get(name), value) for name, value in given.items())
    if isinstance(given, list):
        return len(there) == len(given) and all(map(holds, there, given))
    return bool(there == given)


def volcanos_objects(path: Path) -> Iterator[dict[str, Any]]:
    """What a file says in Volcano's words, placed nowhere."""
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        for each in document["items"] if document["kind"] == "List" else [document]:
            if each["apiVersion"] in GROUPS.values():
                yield {**each, "metadata": {"name": each["metadata"]["name"]}}


def rows(text: str) -> list[list[str]]:
    """A table of kubectl's, as cells. An age is only that."""
    return [["AGE?" if re.fullmatch(r"\d+s", cell) else cell for cell in line.split()] for line in text.splitlines()]


# what is in the definitions


def fields_of(part: Any, path: str = "") -> Iterator[str]:
    """All that we read of an object. Pod templates and metadata are the API server's own business."""
    for each in msgspec.structs.fields(part):
        here = f"{path}.{each.encode_name}"
        yield here
        for inner in (each.type, *get_args(each.type)):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct) and inner not in (Metadata, PodTemplate):
                yield from fields_of(inner, here)


def schema_at(schema: dict[str, Any], path: str) -> dict[str, Any]:
    for name in path.strip(".").split("."):
        schema = schema.get("items", schema)["properties"][name]
    return schema


@pytest.mark.parametrize("kind", [PodGroup, Queue, VolcanoJob])
def test_all_that_we_read_is_defined(kind: type[KubeObject]) -> None:
    bodies: list[Any] = [definition.body for definition in definitions()]
    (spec,) = (
        body["spec"]
        for body in bodies
        if (body["spec"]["group"], body["spec"]["names"]["kind"]) == (kind.API_VERSION.partition("/")[0], kind.KIND)
    )
    schema = spec["versions"][0]["schema"]["openAPIV3Schema"]

    missing = []
    for path in fields_of(kind):
        try:
            schema_at(schema, path)
        except KeyError:
            missing.append(path)

    assert missing == []


def test_printed_in_one_file_they_are_the_same() -> None:
    assert list(yaml.safe_load_all(as_manifests())) == [definition.body for definition in definitions()]


# what the server takes


@pytest.mark.usefixtures("volcano_crds")
@pytest.mark.parametrize("name", TAKEN)
def test_what_volcano_takes_is_taken_whole(control_plane: ControlPlane, namespace: str, name: str) -> None:
    kind, spec = TAKEN[name]

    assert holds(applied(control_plane, namespace, thing(kind, "some", spec))["spec"], spec)


@pytest.mark.usefixtures("volcano_crds")
def test_a_command_is_taken(control_plane: ControlPlane, namespace: str) -> None:
    target = {"apiVersion": GROUPS["Job"], "kind": "Job", "name": "some", "uid": "1", "controller": True}
    body = {"apiVersion": GROUPS["Command"], "kind": "Command", "metadata": {"name": "halt"}}
    said = {"action": "AbortJob", "target": target, "reason": "Suspend", "message": "by hand"}

    assert holds(applied(control_plane, namespace, body | said), said)


@pytest.mark.usefixtures("volcano_crds")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused(control_plane: ControlPlane, namespace: str, name: str) -> None:
    kind, spec, why = REFUSED[name]

    with pytest.raises(KubectlError, match=re.escape(why)):
        applied(control_plane, namespace, thing(kind, "some", spec))


@pytest.mark.usefixtures("volcano_crds")
def test_a_slip_of_the_pen_is_told(control_plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(KubectlError, match=r'unknown field "spec\.minMembers"'):
        applied(control_plane, namespace, thing("PodGroup", "some", {"minMembers": 5}))


@pytest.mark.usefixtures("volcano_crds")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_taken(control_plane: ControlPlane, namespace: str, path: Path) -> None:
    for manifest in volcanos_objects(path):
        assert holds(applied(control_plane, namespace, manifest)["spec"], manifest["spec"])


@pytest.mark.usefixtures("volcano_crds")
@pytest.mark.parametrize(
    ("kind", "spec", "given"),
    [
        ("PodGroup", {"subGroupPolicy": [{}], "networkTopology": {}}, {"queue": "default"}),
        ("PodGroup", {"subGroupPolicy": [{}]}, {"subGroupPolicy": [{"subGroupSize": 1, "minSubGroups": 0}]}),
        ("PodGroup", {"networkTopology": {}}, {"networkTopology": {"mode": "hard"}}),
        ("Queue", {}, {"weight": 1, "dequeueStrategy": "traverse"}),
        ("Job", {"tasks": [TASK]}, {"queue": "default", "maxRetry": 3}),
    ],
)
def test_what_is_left_out_is_filled_in_as_volcano_does(
    control_plane: ControlPlane, namespace: str, kind: str, spec: Spec, given: Spec
) -> None:
    assert holds(applied(control_plane, namespace, thing(kind, "some", spec))["spec"], given)


# how they stand


@pytest.mark.usefixtures("volcano_crds")
def test_a_status_is_written_by_itself(control_plane: ControlPlane, namespace: str) -> None:
    groups = f"/apis/{GROUPS['PodGroup']}/namespaces/{namespace}/podgroups"
    made = control_plane.client.create(
        groups, {**thing("PodGroup", "gang", {"minMember": 2}), "status": {"phase": "Running"}}
    )
    assert "status" not in made

    patch = {"spec": {"minMember": 1}, "status": {"phase": "Inqueue", "running": 1}}
    control_plane.kubectl(
        *("patch", "pg", "gang", "-n", namespace, "--subresource=status", "--type=merge", "-p", json.dumps(patch))
    )

    then = control_plane.client.get(f"{groups}/gang")
    assert then["status"] == {"phase": "Inqueue", "running": 1}
    assert then["spec"]["minMember"] == 2


@pytest.mark.usefixtures("volcano_crds")
def test_a_phase_that_there_is_not_is_refused(control_plane: ControlPlane, namespace: str) -> None:
    groups = f"/apis/{GROUPS['PodGroup']}/namespaces/{namespace}/podgroups"
    made = control_plane.client.create(groups, thing("PodGroup", "gang", {}))

    with pytest.raises(RefusedError, match=r"status\.phase"):
        control_plane.client.request("PUT", f"{groups}/gang/status", {**made, "status": {"phase": "Asleep"}})


@pytest.fixture(scope="module")
def scene(control_plane: ControlPlane, volcano_crds: None) -> Iterator[str]:
    """One object of each kind, as a scheduler and controllers would have left it. Gives the name they all bear."""
    name = f"scene-{secrets.token_hex(4)}"
    specs: dict[str, Spec] = {
        "Queue": {"weight": 4, "parent": "root"},
        "PodGroup": {"minMember": 5, "queue": name},
        "Job": {"minAvailable": 3, "queue": name, "tasks": [TASK]},
        "HyperNode": {"tier": 1, "tierName": "rack"},
    }
    conditions = [{"type": "Scheduled", "status": "True", "reason": "tasks in gang are ready to be scheduled"}]
    statuses: dict[str, Any] = {
        "Queue": {"state": "Open", "allocated": {"cpu": "20", "nvidia.com/gpu": "5"}},
        "PodGroup": {"phase": "Running", "running": 5, "conditions": conditions},
        "Job": {"state": {"phase": "Running"}, "minAvailable": 3, "running": 2},
        "HyperNode": {"nodeCount": 8},
    }
    control_plane.client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    for kind, spec in specs.items():
        inside = f"namespaces/{name}/" if kind in ("PodGroup", "Job") else ""
        path = f"/apis/{GROUPS[kind]}/{inside}{kind.lower()}s"
        made = control_plane.client.create(path, thing(kind, name, spec))
        control_plane.client.request("PUT", f"{path}/{name}/status", {**made, "status": statuses[kind]})
    yield name
    control_plane.kubectl("delete", "queues,hypernodes", name)
    control_plane.kubectl("delete", "vcjob,pg", "--all", "-n", name)


@pytest.mark.parametrize("words", [("pg",), ("podgroups",), ("podgroup-v1beta1",), ("podgroups", "-A")])
def test_podgroups_are_shown_as_users_know_them(
    control_plane: ControlPlane, scene: str, words: tuple[str, ...]
) -> None:
    head, *body = rows(control_plane.kubectl("get", *words, *(() if "-A" in words else ("-n", scene))))

    assert head[-5:] == ["NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE"]
    assert [scene, "Running", "5", "5", "AGE?"] in [row[-5:] for row in body]


@pytest.mark.parametrize("name", ["queues", "q", "queue-v1beta1"])
def test_queues_are_shown_with_what_they_have(control_plane: ControlPlane, scene: str, name: str) -> None:
    assert rows(control_plane.kubectl("get", name, scene)) == [
        ["NAME", "WEIGHT", "STATE", "PARENT", "ALLOCATED", "AGE"],
        [scene, "4", "Open", "root", '{"cpu":"20","nvidia.com/gpu":"5"}', "AGE?"],
    ]


@pytest.mark.parametrize("words", [("vcjob", "-A"), ("vj", "-A"), ("jobs.batch.volcano.sh", "-A")])
def test_jobs_are_shown_as_users_know_them(control_plane: ControlPlane, scene: str, words: tuple[str, ...]) -> None:
    head, *body = rows(control_plane.kubectl("get", *words, "-o", "wide"))

    assert head == ["NAMESPACE", "NAME", "STATUS", "MINAVAILABLE", "RUNNINGS", "AGE", "QUEUE"]
    assert [scene, scene, "Running", "3", "2", "AGE?", scene] in body


def test_hypernodes_are_shown_as_users_know_them(control_plane: ControlPlane, scene: str) -> None:
    assert rows(control_plane.kubectl("get", "hn", scene)) == [
        ["NAME", "TIER", "TIERNAME", "NODECOUNT", "AGE"],
        [scene, "1", "rack", "8", "AGE?"],
    ]


def test_a_podgroup_is_described_with_its_conditions(control_plane: ControlPlane, scene: str) -> None:
    told = control_plane.kubectl("describe", "podgroup", scene, "-n", scene)

    assert re.search(r"Min Member: +5\n +Queue: +" + scene, told)
    assert re.search(r"Reason: +tasks in gang are ready to be scheduled\n +Status: +True\n +Type: +Scheduled", told)
    assert re.search(r"Phase: +Running\n +Running: +5", told)


@pytest.mark.usefixtures("volcano_crds")
def test_fields_are_explained(control_plane: ControlPlane) -> None:
    assert "before any of them starts" in control_plane.kubectl("explain", "podgroup.spec.minMember")
