"""The control plane as pytest knows it.

Each worker of pytest-xdist that has a test for it starts one, and its tests share it. That costs a start per worker,
some seconds, and in return workers need not know of each other: what a test does to its server, such as restarting it,
no test beside it meets. (Only building is for one alone: the others wait.) Each test has a namespace of its own and
takes away what it adds outside it, nodes above all. One that wants other options, or nothing left of its server, starts
its own with `control_plane`.

Where the programs cannot be had, these tests are skipped and say what is missing. In CI, or with
POSSE_REQUIRE_CLUSTER=1, they fail instead.
"""

import asyncio
import http.client
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from posse.kube.api.access import find_access
from posse.kube.api.client import ApiClient
from posse.kube.crds.definitions import definitions
from posse.kube.crds.installing import install
from tests.cluster import control_plane as cluster
from tests.cluster.binaries import HOW, find_or_build, required, tell
from tests.cluster.processes import Process
from tests.cluster.progress import UnavailableError
from tests.cluster.waiting import comes_true


@contextmanager
def skipped_without() -> Iterator[None]:
    """Skip, or fail if this must not be skipped, where something cannot be had."""
    try:
        yield
    except UnavailableError as reason:
        (pytest.fail if required() else pytest.skip)(f"no control plane: {reason}\n{HOW}")


@pytest.fixture(scope="session")
def programs(request: pytest.FixtureRequest) -> Mapping[str, Path]:
    """Give the programs of a control plane, built if they are not there yet; for all to see, for it takes minutes."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with skipped_without(), capture.global_and_fixture_disabled():
        return find_or_build(tell)


@pytest.fixture(scope="session")
def control_plane(
    programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[cluster.ControlPlane]:
    """Run the control plane that tests share."""
    folder = tmp_path_factory.mktemp("control-plane")
    with skipped_without(), cluster.control_plane(folder, cluster.Options(fsync=False), programs) as plane:
        yield plane


@pytest.fixture
def namespace(control_plane: cluster.ControlPlane) -> Iterator[str]:
    """Give the name of a namespace that nobody used before. Its pods are gone afterwards."""
    name = f"test-{secrets.token_hex(4)}"
    control_plane.client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    yield name
    control_plane.client.delete(f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")


@pytest.fixture(scope="session")
def volcano_crds(control_plane: cluster.ControlPlane) -> None:
    """Let the control plane that tests share know Volcano's kinds, as `posse install crds` does."""

    async def installed() -> None:
        async with ApiClient(find_access({}, str(control_plane.kubeconfig))) as client:
            async for _ in install(client, definitions()):
                pass

    def served(plural: str) -> bool:
        return control_plane.client.text("GET", f"/apis/scheduling.volcano.sh/v1beta1/{plural}")[0] == http.client.OK

    asyncio.run(installed())
    assert comes_true(lambda: served("podgroups") and served("queues"))  # at first it is busy setting up


@pytest.fixture
def controller_manager(control_plane: cluster.ControlPlane) -> Iterator[Process]:
    """Run the usual controllers for one test."""
    with skipped_without(), control_plane.start_controller_manager() as process:
        yield process


@pytest.fixture
def kwok(control_plane: cluster.ControlPlane) -> Iterator[Process]:
    """Let nodes be Ready and pods run, for one test."""
    with skipped_without(), control_plane.start_kwok() as process:
        yield process
