"""A configuration that changes while a scheduler runs: in force whole, or not at all."""

import logging
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from posse.live.figures import Figures
from posse.live.log import Log
from posse.live.reloading import Reloading, Source
from posse.scheduler.engine import Engine
from posse.scheduler.switches import Side
from tests.builders import binds, conf, crew, engine, gang, node
from tests.cluster.control_plane import ControlPlane, free_port
from tests.cluster.waiting import comes_true
from tests.live import clusters
from tests.live.test_metrics_endpoint import fetched, read

BROKEN = "actions: allocate\ntiers: [{plugins: [{name: gnag}]}]\n"

FAULTY_PLUGIN = """\
from posse.scheduler.plugin import Plugin, Setup

class Faulty(Plugin):
    \"\"\"Cannot be built.\"\"\"
    name = "faulty"

    def __init__(self, setup: Setup) -> None:
        raise RuntimeError("no luck")
"""


class Scene:
    """A scheduler in step with a file, and what was said of it."""

    def __init__(self, folder: Path, text: str, mode: Side | None = None) -> None:
        self.folder, self.file = folder, folder / "scheduler.conf"
        self.file.write_text(text, "utf-8")
        self.engine: Engine = engine(text, node("n", cpu=1), gang("a"), *crew("a", 1), mode=mode)
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.woken = 0
        self.figures = Figures()
        logger = logging.Logger("test")
        logger.addFilter(self._keep)
        self._looking = Reloading(Source(str(self.file), mode), self.engine, Log(logger), self.figures, self._wake)
        self._age = 0

    def _keep(self, record: logging.LogRecord) -> bool:
        self.said.append((record.getMessage(), getattr(record, "fields", {})))
        return False

    def _wake(self) -> None:
        self.woken += 1

    def writes(self, text: str) -> None:
        """Change the file, visibly even where clocks are coarse."""
        self.file.write_text(text, "utf-8")
        self._age += 1
        os.utime(self.file, (self._age, self._age))

    def looks(self, *, asked: bool = False) -> list[str]:
        """What is said when the file is looked at."""
        before = len(self.said)
        self._looking.look(asked=asked)
        return [message for message, _ in self.said[before:]]

    @property
    def plugins(self) -> list[str]:
        return [plugin.name for plugin in self.engine.tiers.plugins]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, conf("gang"))


def test_a_changed_file_comes_into_force(scene: Scene) -> None:
    assert scene.looks() == []
    scene.writes(conf("gang predicates"))

    assert scene.looks() == ["configuration taken"]
    assert scene.plugins == ["gang", "predicates"]
    assert (scene.woken, scene.figures.reloads["taken"]) == (1, 1)
    assert binds(scene.engine) == {"a-worker-0": "n"}
    assert scene.looks() == []


def test_a_broken_one_is_refused_once_and_the_old_one_stays(scene: Scene) -> None:
    scene.writes(BROKEN)

    assert scene.looks() == ["configuration refused, the old one stays"]
    assert "gnag" in scene.said[-1][1]["why"]
    assert scene.looks() == []
    assert scene.plugins == ["gang"]
    assert scene.woken == 0
    assert "\nposse_config_refused 1\n" in scene.figures.text(scene.engine, ())
    assert 'posse_config_reloads_total{result="refused"} 1\n' in scene.figures.text(scene.engine, ())


def test_mending_it_ends_the_complaint(scene: Scene) -> None:
    scene.writes(BROKEN)
    scene.looks()
    scene.writes(conf("gang"))

    assert scene.looks() == ["configuration taken"]
    assert not scene.figures.config_refused


def test_a_file_that_is_gone_is_refused_and_may_come_back(scene: Scene) -> None:
    scene.file.unlink()
    assert scene.looks() == ["configuration refused, the old one stays"]
    assert scene.looks() == []
    scene.writes(conf("gang priority"))
    assert scene.looks() == ["configuration taken"]


def test_one_that_is_no_text_is_refused(scene: Scene) -> None:
    scene.file.write_bytes(b"\xff\xfe\x00")
    assert scene.looks() == ["configuration refused, the old one stays"]


def test_one_that_was_only_touched_changes_nothing_unless_asked(scene: Scene) -> None:
    scene.writes(conf("gang"))
    assert scene.looks() == []
    assert scene.looks(asked=True) == ["configuration taken"]


def test_links_that_are_swapped_are_a_change(tmp_path: Path) -> None:
    for name, text in (("old", conf("gang")), ("new", conf("gang priority"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "conf").write_text(text, "utf-8")
    scene = Scene(tmp_path, conf("gang"))
    scene.file.unlink()
    scene.file.symlink_to("old/conf")
    scene.looks()
    scene.file.unlink()
    scene.file.symlink_to("new/conf")

    assert scene.looks() == ["configuration taken"]
    assert scene.plugins == ["gang", "priority"]


def test_plugins_that_cannot_be_built_leave_all_as_it_was(scene: Scene) -> None:
    (scene.folder / "faulty.py").write_text(FAULTY_PLUGIN, "utf-8")
    scene.writes(conf("gang faulty", plugins=["faulty.py"]))

    assert scene.looks() == ["configuration refused, the old one stays"]
    assert "no luck" in scene.said[-1][1]["why"]
    assert scene.plugins == ["gang"]
    assert "faulty" not in scene.engine.registry.plugins
    assert binds(scene.engine) == {"a-worker-0": "n"}


def test_a_plugin_that_is_new_comes_along(scene: Scene) -> None:
    (scene.folder / "fine.py").write_text(
        "from posse.scheduler.plugin import Plugin\n\nclass Fine(Plugin):\n    name = 'fine'\n", "utf-8"
    )
    scene.writes(conf("gang fine", plugins=["fine.py"]))

    assert scene.looks() == ["configuration taken"]
    assert scene.plugins == ["gang", "fine"]


def compatible(side: str, switch: str = "gated-members") -> str:
    return conf("gang", configurations=[{"name": "compatibility", "arguments": {switch: side}}])


def test_how_objects_are_read_needs_a_restart(scene: Scene) -> None:
    scene.writes(compatible("upstream"))
    assert scene.looks() == ["configuration refused, the old one stays"]
    assert "a restart" in scene.said[-1][1]["why"]
    scene.writes(compatible("upstream", "waiting-words"))
    assert scene.looks() == ["configuration taken"]


def test_the_mode_of_the_command_line_still_beats_the_files(tmp_path: Path) -> None:
    scene = Scene(tmp_path, conf("gang"), "upstream")
    scene.writes(conf("gang priority"))

    assert scene.looks() == ["configuration taken"]
    assert scene.engine.configuration.compatibility.mode == "upstream"


# ------------------------------------------------------------------ on a cluster


def test_a_scheduler_at_work_takes_a_new_file_and_refuses_a_broken_one(
    control_plane: ControlPlane, namespace: str, volcano_crds: None, tmp_path: Path
) -> None:
    name, port, file = f"{namespace}-n1", free_port(), tmp_path / "scheduler.conf"
    file.write_text(conf("gang", "predicates proportion"), "utf-8")
    clusters.add_nodes(control_plane, clusters.node(name))
    with clusters.scheduler(control_plane, "--config", str(file), "--listen", f"127.0.0.1:{port}") as posse:

        def figures() -> dict[str, float]:
            return read(fetched(port, "/metrics")[1])

        def says(words: str, times: int = 1) -> bool:
            return comes_true(lambda: clusters.said(posse).count(words) == times)

        file.write_text(conf("gang", "predicates proportion nodeorder"), "utf-8")
        assert says("configuration taken")
        file.write_text(BROKEN, "utf-8")
        assert says("configuration refused, the old one stays")
        assert figures()["posse_config_refused"] == 1
        clusters.apply(control_plane, clusters.whole(namespace, "a", 2))
        assert clusters.comes_to(control_plane, namespace, "a", 2)
        os.kill(posse.pid, signal.SIGHUP)
        assert says("configuration refused, the old one stays", times=2)
        file.write_text(conf("gang", "predicates"), "utf-8")
        assert says("configuration taken", times=2)
        assert figures()["posse_config_refused"] == 0
    control_plane.client.delete(f"/api/v1/nodes/{name}")
