"""Helm as tests know it."""

import pytest

from tests.cluster.binaries import required, tell
from tests.cluster.progress import UnavailableError
from tests.deploy.helm import Helm, find_or_build


@pytest.fixture(scope="session")
def helm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Give Helm, built if it is not there yet; for all to see, for it takes minutes."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled():
            return Helm(find_or_build(tell), tmp_path_factory.mktemp("helm"))
    except UnavailableError as reason:
        (pytest.fail if required() else pytest.skip)(f"no helm: {reason}")
