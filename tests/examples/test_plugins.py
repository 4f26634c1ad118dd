"""The example plugins do what their first lines promise, named by their path in a configuration."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.examples.command import simulated

PLUGINS = Path(__file__).resolve().parents[2] / "examples" / "plugins"

Nodes = dict[str, int]
Where = Callable[[str], dict[str, Nodes]]


def record_of(name: str, conf: Path) -> dict[str, Any]:
    return simulated("-f", str(PLUGINS / f"{name}.yaml"), "--config", str(conf))


def with_it(name: str) -> dict[str, Nodes]:
    """Where each gang is, by bare name, under the plugin's own configuration."""
    record = record_of(name, PLUGINS / f"{name}.conf")
    return {gang.partition("/")[2]: told["nodes"] for gang, told in record["gangs"].items()}


@pytest.fixture
def without_it(tmp_path: Path) -> Where:
    """Where each gang is, by bare name, if the plugin is left out."""

    def run(name: str) -> dict[str, Nodes]:
        conf = tmp_path / "without.conf"
        conf.write_text(
            'actions: "enqueue, allocate"\ntiers:\n- plugins: [{name: gang}, {name: predicates}, {name: nodeorder}]\n'
        )
        return {gang.partition("/")[2]: told["nodes"] for gang, told in record_of(name, conf)["gangs"].items()}

    return run


def test_three_lines_keep_pods_off_a_node() -> None:
    assert with_it("01_three_line_filter") == {"train": {"n2": 3}}


def test_a_score_fills_the_cheapest_node_first(without_it: Where) -> None:
    assert with_it("02_node_score") == {"render": {"spot": 4, "fair": 2}}
    assert without_it("02_node_score") == {"render": {"dear": 2, "fair": 2, "spot": 2}}


def test_an_order_lets_the_nearest_deadline_go_first(without_it: Where) -> None:
    assert with_it("03_gang_order") == {"today": {"n1": 3}, "tomorrow": {}, "whenever": {}}
    assert without_it("03_gang_order") == {"today": {}, "tomorrow": {}, "whenever": {"n1": 3}}


def test_a_filter_for_all_nodes_keeps_devices_for_those_who_use_them(without_it: Where) -> None:
    assert with_it("04_vectorised_filter") == {"etl": {"small": 4}, "train": {"big-gpu": 2}}
    assert "big-gpu" in without_it("04_vectorised_filter")["etl"]


def test_state_goes_back_with_a_gang_that_did_not_fit(without_it: Where) -> None:
    assert with_it("05_stateful")["oven"] == {}
    assert sum(with_it("05_stateful")["kettle"].values()) == 3
    assert sum(without_it("05_stateful")["oven"].values()) == 4


def test_what_a_plugin_says_is_what_people_read() -> None:
    record = record_of("05_stateful", PLUGINS / "05_stateful.conf")

    assert record["pods"]["default/kettle-3"]["message"] == "0/2 nodes are unavailable: 2 rack r1 has no power left."
