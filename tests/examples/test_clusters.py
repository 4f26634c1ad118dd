"""Every example cluster comes out as the words at its top say."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.examples.command import simulated, told

ROOT = Path(__file__).resolve().parents[2]
CLUSTERS = [path for path in sorted((ROOT / "examples").glob("[0-9]*.yaml")) if ".steps." not in path.name]
RECOMMENDED = ("--config", "examples/conf/recommended.conf")

Record = dict[str, Any]


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands quote paths from the repository's folder."""
    monkeypatch.chdir(ROOT)


def result(example: str, *flags: str) -> Record:
    """The result of simulating an example."""
    return simulated("-f", f"examples/{example}", *flags)


def started(record: Record) -> set[str]:
    """The gangs whose minimum got nodes, by bare name."""
    return {name.partition("/")[2] for name, gang in record["gangs"].items() if gang["ready"] >= gang["min"]}


def nodes_of(record: Record, gang: str) -> dict[str, int]:
    nodes: dict[str, int] = record["gangs"][f"default/{gang}"]["nodes"]
    return nodes


def commands_in(example: Path) -> list[str]:
    """The commands that the words at the top of an example quote."""
    return [line.removeprefix("#     ") for line in example.read_text().splitlines() if line.startswith("#     posse ")]


@pytest.mark.parametrize("example", CLUSTERS, ids=lambda path: path.stem)
def test_the_commands_at_the_top_of_an_example_run(example: Path) -> None:
    commands = commands_in(example)
    assert commands

    for command in commands:
        assert told(*shlex.split(command)[1:])


def test_of_two_gangs_with_room_for_one_and_a_half_one_rides_and_the_other_follows() -> None:
    at_once = result("01-first-gang.yaml", "--cycles", "2")
    in_the_end = result("01-first-gang.yaml")

    assert started(at_once) == {"blue"}
    assert len(at_once["binds"]) == 5
    assert started(in_the_end) == {"blue", "green"}
    assert in_the_end["time"] == pytest.approx(3600, abs=5)


def test_without_its_parameter_server_no_worker_starts() -> None:
    record = result("02-roles.yaml")

    assert nodes_of(record, "train") == {"gpu": 3, "memory": 1}
    assert nodes_of(record, "headless") == {}


def test_by_default_a_gang_that_has_begun_takes_all_it_wants() -> None:
    record = result("03-elastic-gang.yaml")

    assert nodes_of(record, "sweep") == {"box": 6}
    assert nodes_of(record, "report") == {}


def test_recommended_are_minimums_first() -> None:
    record = result("03-elastic-gang.yaml", *RECOMMENDED)

    assert nodes_of(record, "report") == {"box": 3}
    assert nodes_of(record, "sweep") == {"box": 3}


def test_queues_share_by_weight_within_what_they_may_have() -> None:
    queues = result("04-queues.yaml")["queues"]

    assert {name: queues[name]["allocated"]["cpu"] for name in ("research", "teaching", "sandbox")} == {
        "research": "12",
        "teaching": "4",
        "sandbox": "2",
    }


def test_replicas_start_whole_and_a_part_of_one_does_not() -> None:
    record = result("05-sub-groups.yaml")
    replicas = sorted(pod.removeprefix("default/llm-").split("-")[0] for pod in record["binds"])

    assert replicas == ["0"] * 4 + ["1"] * 4


def test_a_volcano_job_needs_nothing_beside_it() -> None:
    record = result("06-volcano-job.yaml")
    (gang,) = record["gangs"].values()

    assert (gang["dialect"], gang["queue"], gang["running"]) == ("volcano", "research", 5)


def test_members_count_for_each_other_while_they_are_placed() -> None:
    record = result("07-spread-and-affinity.yaml")

    assert nodes_of(record, "store") == {"n1": 1, "n2": 1, "n3": 1}
    assert sorted(nodes_of(record, "cache").values()) == [1, 1]
    assert nodes_of(record, "mirror") == {}


def test_a_dump_keeps_what_runs_and_starts_its_clock_where_it_was_taken() -> None:
    record = result("08-a-dump.yaml")

    assert record["gangs"]["ml/embed"]["running"] == 2
    assert record["gangs"]["ml/tune"]["ready"] == 0
    assert record["binds"] == {}
    assert record["ignored"] == {"cert-manager.io/v1 Certificate": 1}


def test_a_gang_that_waits_is_told_what_would_start_it() -> None:
    explanation = json.loads(told("explain", "finetune", "-f", "examples/09-why-it-waits.yaml", "-o", "json"))
    remedies = {(remedy["action"], remedy["message"].partition(" (")[0]) for remedy in explanation["remedies"]}

    assert explanation["state"] == "waiting"
    assert {action for action, _ in remedies} >= {"add-nodes", "lower-min", "remove-constraint"}
    assert ("add-nodes", "1 more node like train-1") in remedies
    assert all(remedy["verified"] for remedy in explanation["remedies"])


def test_a_gang_that_lost_a_member_with_its_node_is_made_whole_on_a_new_one() -> None:
    record = result("10-steps.yaml", "--steps", "examples/10-steps.steps.yaml", "--cycles", "8")

    assert nodes_of(record, "solver") == {"n1": 2, "n3": 1}
    assert record["gangs"]["default/solver"]["running"] == 3
