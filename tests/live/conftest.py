"""What tests of a scheduler at work share: a small cluster, the eye on it, and admission that a test can steer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from posse.scheduler.configuration import DEFAULT_CONF
from tests.cluster.checker.checking import Watch, checking
from tests.cluster.control_plane import ControlPlane
from tests.live.clusters import add_nodes, node
from tests.live.gatekeeper import Gatekeeper, gatekeeping


@pytest.fixture
def cluster(control_plane: ControlPlane, namespace: str, volcano_crds: None) -> Iterator[str]:
    """Give a namespace in a cluster of two nodes with four cpus each. Nodes that have its name go with it."""
    add_nodes(control_plane, node(f"{namespace}-n1"), node(f"{namespace}-n2"))
    yield namespace
    for each in control_plane.client.get("/api/v1/nodes")["items"]:
        if each["metadata"]["name"].startswith(f"{namespace}-"):
            control_plane.client.delete(f"/api/v1/nodes/{each['metadata']['name']}")


@pytest.fixture
def watch(control_plane: ControlPlane, cluster: str) -> Iterator[Watch]:
    """Hold whoever schedules to the rules, to the end of the test."""
    with checking(control_plane, schedulers={"posse"}, repair_time=15) as eye:
        yield eye


@pytest.fixture
def gatekeeper(control_plane: ControlPlane, cluster: str) -> Iterator[Gatekeeper]:
    """Have somebody asked before each bind."""
    with gatekeeping(control_plane, cluster) as keeper:
        yield keeper


@pytest.fixture
def hasty(tmp_path: Path) -> Path:
    """Give a configuration in which gangs are bound in part for two seconds at the most."""
    path = tmp_path / "hasty.conf"
    path.write_text(f"{DEFAULT_CONF}\nconfigurations:\n- name: repair\n  arguments: {{time: 2s}}\n", "utf-8")
    return path
