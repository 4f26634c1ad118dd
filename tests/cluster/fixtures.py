"""The control plane as pytest knows it.

Starting one takes seconds of two cores, so there is one for all tests: those that use it go to one worker of
pytest-xdist (the group `cluster`), which starts it once, while the other workers do the rest. Each test has a namespace
of its own and takes away what it adds outside it, nodes above all; a test that wants its own control plane, with other
options or none left at the end, starts one with `control_plane`.

Where the programs cannot be had, these tests are skipped and say what is missing. In CI, or with
POSSE_REQUIRE_CLUSTER=1, they fail instead.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster import control_plane as cluster
from tests.cluster.binaries import HOW, find_or_build, required, tell
from tests.cluster.processes import Process
from tests.cluster.progress import UnavailableError


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the tests that share the control plane together."""
    for item in items:
        if isinstance(item, pytest.Function) and "programs" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group("cluster"))


@contextmanager
def skipped_without() -> Iterator[None]:
    """Skip, or fail if this must not be skipped, where something cannot be had."""
    try:
        yield
    except UnavailableError as reason:
        (pytest.fail if required() else pytest.skip)(f"{reason}\n{HOW}")


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
