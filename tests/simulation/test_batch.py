"""A batch line becomes a scenario: what it says holds, what it leaves out has its default."""

from typing import Any

import pytest

from posse.simulation.batch import answer_line
from posse.simulation.scenario import NOTHING_SAID, BatchLine, Options, Scenario, of_batch_line

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]},
}
CONF = "actions: allocate"


def answer(**line: Any) -> Any:
    return answer_line({"id": "x", "objects": [NODE, POD], "conf": CONF, **line})


def test_a_line_runs_until_nothing_changes_unless_it_says_for_how_long() -> None:
    assert answer()["fixpoint"]
    assert answer(cycles=1)["cycles"] == 1


def test_a_step_is_taken_after_its_cycle() -> None:
    gone = {"after_cycle": 1, "delete": [{"kind": "Pod", "namespace": "default", "name": "p"}]}

    result = answer(cycles=3, steps=[gone])

    assert result["binds"] == {"default/p": "n"}
    assert result["gangs"] == {}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"objects": "none"}, "objects"),
        ({"compatibility": "other"}, "compatibility"),
        ({"now": "noon"}, "now"),
        ({"steps": [{"apply": []}]}, "steps[0]"),
        ({"steps": [{"after_cycle": 1, "applied": []}]}, "steps[0]"),
        ({"cycles": "many"}, "cycles"),
    ],
)
def test_a_field_that_cannot_be_taken_is_named(line: dict[str, Any], field: str) -> None:
    result = answer(**line)

    assert result["id"] == "x"
    assert result["error"]["field"].startswith(field)


def test_a_slip_in_the_configuration_is_an_error_of_its_line() -> None:
    error = answer(conf="actions: allocat")["error"]

    assert "allocat" in error["message"]
    assert "allocate" in error["accepted"]


def test_a_line_takes_from_the_flags_only_what_it_does_not_say() -> None:
    flags = Scenario((), "actions: enqueue", "mine.conf", options=Options(cycles=7, seed=3))
    line = BatchLine(id="x", objects=[], cycles=2)

    scenario = of_batch_line(line, flags)

    assert (scenario.options.cycles, scenario.options.seed) == (2, 3)
    assert (scenario.configuration, scenario.configuration_file) == ("actions: enqueue", "mine.conf")


def test_the_configuration_of_a_line_stands_in_no_file() -> None:
    flags = Scenario((), "actions: enqueue", "mine.conf")

    scenario = of_batch_line(BatchLine(id="x", objects=[], conf=CONF), flags)

    assert (scenario.configuration, scenario.configuration_file) == (CONF, "")
    assert of_batch_line(BatchLine(id="x", objects=[]), NOTHING_SAID).options == Options()
