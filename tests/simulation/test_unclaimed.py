"""Pods that name a group which nobody declared, or no longer: all are told."""

from typing import Any

import pytest

from posse.simulation.explaining import explanations
from posse.simulation.result import result_of
from tests.simulation.scenes import Manifest, begun, group, node, pod, step

RUNNING = {"phase": "Running"}
MISSING = "2 pods name the group default/g, and there is no such group"


def outcome(*manifests: Manifest, **options: Any) -> Any:
    run = begun(*manifests, **options)
    run.to_the_end()
    return result_of(run, explanations(run))


def members(*, on: str = "") -> list[Manifest]:
    return [pod("g-0", group="g", on=on, status=RUNNING if on else None), pod("g-1", group="g")]


@pytest.mark.parametrize("on", ["", "n1"])
def test_a_gang_without_its_group_is_told_so_whether_or_not_some_of_it_runs(on: str) -> None:
    result = outcome(node(), *members(on=on))

    told = result["gangs"]["default/g"]["explanation"]
    assert (told["state"], told["blockers"][0]["message"]) == ("waiting", MISSING)
    assert [remedy["action"] for remedy in told["remedies"]] == ["create-object"]
    assert result["pods"]["default/g-1"] == {"reason": "Unschedulable", "message": MISSING, "nominatedNodeName": ""}


def test_the_group_may_be_deleted_under_its_pods() -> None:
    result = outcome(node(), group("g", 1), *members(on="n1"), pod("g-2", cpu="9", group="g"), steps=GONE, cycles=3)

    told = result["gangs"]["default/g"]["explanation"]
    assert "there is no such group" in told["summary"] + told["blockers"][0]["message"]
    assert "there is no such group" in result["pods"]["default/g-2"]["message"]


GONE = (step(2, delete="PodGroup g"),)


def test_what_would_not_help_is_said_to_have_been_tried() -> None:
    told = outcome(node(), *members(on="n1"), pod("g-2", cpu="9", group="g"))["gangs"]["default/g"]["explanation"]

    assert told["summary"].endswith("what was tried does not help: PodGroup default/g with a minimum of 3")
    assert not told["remedies"]


def test_without_an_allowance_nothing_is_tried() -> None:
    told = outcome(node(), *members(on="n1"), what_if_runs=0)["gangs"]["default/g"]["explanation"]

    assert (told["searched"], told["remedies"]) == ("cut", [])


def test_a_gang_that_runs_without_its_group_waits_for_nothing() -> None:
    both = [pod(f"g-{n}", group="g", on="n1", status=RUNNING) for n in range(2)]

    result = outcome(node(), *both)

    told = result["gangs"]["default/g"]["explanation"]
    assert (told["state"], told["summary"]) == ("running", f"is running, though {MISSING}")
    assert not result["pods"]


def test_the_condition_of_such_a_pod_says_it_too() -> None:
    objects = outcome(node(), *members(on="n1"), objects_out=True)["objects"]

    (waiting,) = (each for each in objects if each["metadata"]["name"] == "g-1")
    assert waiting["status"]["conditions"][0]["message"] == MISSING
