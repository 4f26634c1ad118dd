"""`posse install crds`, on a control plane of its own: what is missing comes, what is there stays, errors are told."""

import asyncio
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from posse.errors import InputError
from posse.kube.api.access import find_access
from posse.kube.api.client import ApiClient
from posse.kube.crds.definitions import Definition, definitions
from posse.kube.crds.installing import install
from tests.cli.posse import Posse
from tests.cluster.control_plane import ControlPlane, Options
from tests.cluster.control_plane import control_plane as running
from tests.cluster.fixtures import skipped_without
from tests.cluster.waiting import comes_true

PAGE = Path(__file__).resolve().parents[2] / "docs" / "install.md"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUPS, QUEUES = "podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh"
NAMES = [GROUPS, QUEUES, "jobs.batch.volcano.sh", "hypernodes.topology.volcano.sh", "commands.bus.volcano.sh"]


@pytest.fixture(scope="module")
def own_plane(programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that no other test has taught anything."""
    folder = tmp_path_factory.mktemp("bare")
    with skipped_without(), running(folder, Options(fsync=False), programs) as plane:
        yield plane


@pytest.fixture
def plane(own_plane: ControlPlane) -> Iterator[ControlPlane]:
    """It knows nothing but what Kubernetes knows."""
    yield own_plane
    own_plane.client.delete(CRDS)
    assert comes_true(lambda: not own_plane.client.get(CRDS)["items"])


def installed(posse: Posse, plane: ControlPlane, *words: str) -> Result:
    return posse("install", "crds", "--kubeconfig", str(plane.kubeconfig), *words)


def told(result: Result) -> dict[str, str]:
    """What is said of each definition."""
    assert result.exit_code == 0, result.output
    table = result.stdout.partition("\n\n")[0]
    return {name: what.strip() for name, _, what in (line.partition(" ") for line in table.splitlines())}


def theirs(name: str, version: str = "v1beta1", **names: str) -> dict[str, Any]:
    """A definition that somebody else wrote."""
    plural, _, group = name.partition(".")
    given = {"kind": plural[:-1].title(), "plural": plural} | names
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": version, "served": True, "storage": True, "schema": schema}]
    spec = {"group": group, "scope": "Cluster", "names": given, "versions": versions}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


# what is done


def test_what_is_missing_is_created_and_in_force(posse: Posse, plane: ControlPlane) -> None:
    result = installed(posse, plane)

    assert told(result) == dict.fromkeys(NAMES, "created")
    assert 'gangs that name no queue stand in the queue "default"' in result.stdout
    served = plane.kubectl("api-resources", "-o", "name").split()
    assert [name for name in NAMES if name not in served] == []
    assert plane.kubectl("get", "podgroups,queues,vcjob,hn,commands", "-A", "-o", "name") == ""


def test_again_it_changes_nothing(posse: Posse, plane: ControlPlane) -> None:
    installed(posse, plane)
    before = plane.client.get(CRDS)["items"]

    assert told(installed(posse, plane)) == dict.fromkeys(NAMES, "already there, by Posse")
    assert plane.client.get(CRDS)["items"] == before


def test_a_dry_run_says_so_and_does_nothing(posse: Posse, plane: ControlPlane) -> None:
    result = installed(posse, plane, "--dry-run")

    assert told(result) == dict.fromkeys(NAMES, "would be created")
    assert "can be created now" not in result.stdout
    assert plane.client.get(CRDS)["items"] == []


def test_volcanos_own_are_left_alone(posse: Posse, plane: ControlPlane) -> None:
    plane.client.create(CRDS, theirs(QUEUES))
    assert told(installed(posse, plane, "--dry-run"))[QUEUES] == "already there, by Volcano: left alone"

    result = installed(posse, plane)

    assert told(result) == dict.fromkeys(NAMES, "created") | {QUEUES: "already there, by Volcano: left alone"}
    there = plane.client.get(f"{CRDS}/{QUEUES}")
    assert there["metadata"]["generation"] == 1
    assert "subresources" not in there["spec"]["versions"][0]


def test_volcanos_own_must_be_of_the_version_that_is_read(posse: Posse, plane: ControlPlane) -> None:
    plane.client.create(CRDS, theirs(GROUPS, "v1alpha2"))

    result = installed(posse, plane)

    assert result.exit_code == 2
    assert f"Error: {GROUPS}: is there, but not in the version v1beta1" in result.stderr
    assert "accepted: a newer Volcano" in result.stderr


def test_our_own_are_brought_up_to_date(posse: Posse, plane: ControlPlane) -> None:
    installed(posse, plane)
    older = [{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/queue"}]
    plane.kubectl("patch", "crd", GROUPS, "--type=json", "-p", json.dumps(older))

    assert told(installed(posse, plane, "--dry-run"))[GROUPS] == "would be brought up to date"
    assert told(installed(posse, plane))[GROUPS] == "brought up to date"
    assert told(installed(posse, plane))[GROUPS] == "already there, by Posse"


def test_what_a_newer_one_no_longer_says_goes(plane: ControlPlane) -> None:
    async def installed_as(definition: Definition) -> None:
        async with ApiClient(find_access({}, str(plane.kubeconfig))) as client:
            assert [result async for _, result in install(client, [definition])]

    (newer,) = (each for each in definitions() if each.name == GROUPS)
    older: Any = json.loads(json.dumps(newer.body))
    older["spec"]["names"]["shortNames"].append("posses")
    asyncio.run(installed_as(Definition(newer.name, newer.version, "", older)))
    assert "posses" in plane.client.get(f"{CRDS}/{GROUPS}")["spec"]["names"]["shortNames"]

    asyncio.run(installed_as(newer))

    assert "posses" not in plane.client.get(f"{CRDS}/{GROUPS}")["spec"]["names"]["shortNames"]


def test_what_is_printed_can_be_applied_instead(posse: Posse, plane: ControlPlane) -> None:
    printed = posse("install", "crds", "--print")
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(printed.stdout)] == NAMES

    plane.kubectl("apply", "-f", "-", stdin=printed.stdout)

    assert told(installed(posse, plane)) == dict.fromkeys(NAMES, "already there, by Posse")


# what goes wrong


def test_what_does_not_come_into_force_is_not_waited_for_for_ever(plane: ControlPlane) -> None:
    plane.client.create(CRDS, theirs("posses.scheduling.volcano.sh", kind="PodGroup", listKind="PodGroupList"))
    assert comes_true(lambda: "PodGroup" in plane.kubectl("api-resources", "--api-group=scheduling.volcano.sh"))

    async def installing() -> None:
        async with ApiClient(find_access({}, str(plane.kubeconfig))) as client:
            async for _ in install(client, definitions(), patience=1.0):
                pass

    with pytest.raises(InputError, match=r"(?s)is still not in force after 1 seconds: .*PodGroup.* already in use"):
        asyncio.run(installing())


def test_who_has_no_rights_is_told_which(posse: Posse, plane: ControlPlane) -> None:
    ann = plane.kubeconfig_for("ann")

    result = posse("install", "crds", "--kubeconfig", str(ann))

    assert result.exit_code == 2
    assert 'User "ann" cannot get resource "customresourcedefinitions"' in result.stderr
    assert "accepted: a user who may get, create and patch customresourcedefinitions" in result.stderr
    assert result.stdout == ""


def test_who_may_only_look_is_told_so_by_a_dry_run(posse: Posse, plane: ControlPlane) -> None:
    plane.kubectl("create", "clusterrole", "looks", "--verb=get", "--resource=customresourcedefinitions")
    plane.kubectl("create", "clusterrolebinding", "looks", "--clusterrole=looks", "--user=ben")
    ben = plane.kubeconfig_for("ben")

    def tried() -> Result:
        return posse("install", "crds", "--dry-run", "--kubeconfig", str(ben))

    assert comes_true(lambda: 'User "ben" cannot patch resource' in tried().stderr)
    assert tried().exit_code == 2


def test_a_user_whom_the_server_does_not_know_is_told_so(posse: Posse, plane: ControlPlane) -> None:
    config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = {"token": "long-gone"}

    result = posse("install", "crds", "--kubeconfig", posse.file("old", yaml.safe_dump(config)))

    assert result.exit_code == 2
    assert "401 Unauthorized" in result.stderr
    assert "accepted: a user whom the server knows" in result.stderr


def test_a_server_that_is_not_there_is_told(posse: Posse) -> None:
    cluster = {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}
    config = {
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "me", "user": {"token": "any"}}],
        "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me"}}],
        "current-context": "here",
    }

    result = posse("install", "crds", KUBECONFIG=posse.file("config", yaml.safe_dump(config)))

    assert result.exit_code == 2
    assert "https://127.0.0.1:1 cannot be reached" in result.stderr
    assert "accepted: a server that answers" in result.stderr


def test_the_context_is_one_that_there_is(posse: Posse, plane: ControlPlane) -> None:
    result = installed(posse, plane, "--context", "elsewhere")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no context 'elsewhere'" in result.stderr
    assert told(installed(posse, plane, "--context", "posse-test", "--dry-run"))


# what the page says


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def sessions() -> Iterator[tuple[list[str], str]]:
    """The commands that the page shows, each with what it prints."""
    for block in blocks("console"):
        for shown in block.removeprefix("$ ").split("\n$ "):
            command, _, output = shown.partition("\n")
            yield shlex.split(command), output


def timeless(text: str) -> list[list[str]]:
    """Lines of cells, without what is never the same twice."""
    for pattern in (
        r"\b\d+m?s\b",
        r"\d{4}-\d\d-\d\dT\S+",
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"Version: +\d+",
    ):
        text = re.sub(pattern, "?", text)
    return [line.split() for line in text.splitlines() if line.strip()]


def test_the_page_shows_what_is_printed(posse: Posse, plane: ControlPlane) -> None:
    assert installed(posse, plane).stdout in blocks("text")
    (gang,) = (block for block in blocks("yaml") if "PodGroup" in block)
    file = posse.file("gang.yaml", gang)

    for (program, *words), output in sessions():
        assert program == "kubectl"
        printed = plane.kubectl(*(file if word == "gang.yaml" else word for word in words))
        assert timeless(printed) == timeless(output), printed
