"""A batch line becomes a scenario: what it says holds, what it leaves out has its default."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from posse.simulation import batch
from posse.simulation.batch import answer_line, answer_lines
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
        ({"cycles": 0}, "cycles"),
        ({"id": 3}, "id"),
        ({"what_if_runs": -1}, "what_if_runs"),
        ({"steps": [{"after_cycle": -1}]}, "steps[0].after_cycle"),
        ({"cycels": 1}, "cycels"),
    ],
)
def test_a_field_that_cannot_be_taken_is_named(line: dict[str, Any], field: str) -> None:
    result = answer(**line)

    assert result["id"] == line.get("id", "x")
    assert result["error"]["field"].startswith(field)
    assert result["error"]["accepted"]


def test_a_line_without_objects_is_told_what_is_missing() -> None:
    error = answer_line({"id": "x"})["error"]

    assert (error["field"], error["message"], error["accepted"]) == ("objects", "is missing", "a list")


def test_an_unknown_key_is_answered_with_the_nearest() -> None:
    error = answer(cycels=1)["error"]

    assert error["message"] == "unknown field 'cycels'; did you mean 'cycles'?"
    assert "cycles" in error["accepted"]


def test_a_line_may_carry_a_note() -> None:
    assert "error" not in answer(note="for whoever wrote it")


def test_a_fault_of_ours_is_an_error_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scenario: Scenario) -> None:
        del scenario
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(batch, "Run", fail)

    result = answer()

    assert result["id"] == "x"
    assert "Posse itself failed here" in result["error"]["message"]
    assert "ZeroDivisionError: by nothing; test_batch.py, line" in result["error"]["message"]


def test_a_number_beyond_all_bounds_is_an_error_of_its_line() -> None:
    line = b'{"id": "x", "objects": [{"a": %s}]}' % (b"9" * 5000)

    (result,) = answer_lines([line], NOTHING_SAID)

    assert b"Integer value out of range" in result


def test_a_line_that_nobody_can_read_is_named_by_its_number() -> None:
    good = msgspec.json.encode({"id": "x", "objects": []})

    answers = [msgspec.json.decode(each) for each in answer_lines([good, b"", b"{"], NOTHING_SAID)]

    assert [each["id"] for each in answers] == ["x", None]
    assert (answers[1]["error"]["file"], answers[1]["error"]["line"]) == ("stdin", 3)


def test_a_slip_in_the_configuration_is_an_error_of_its_line() -> None:
    error = answer(conf="# mine\nactions: allocat")["error"]

    assert (error["file"], error["line"], error["field"]) == (None, 2, "actions")
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


PLUGIN = '''
from posse.scheduler.plugin import Plugin

class Mine(Plugin):
    """Have something to say."""

    name = "mine"

    def {method}
'''


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("node_filter(self, task, node): return False", "gave bool False"),
        ("node_filter(self, task, node): raise SystemExit(3)", "raised SystemExit: 3"),
        ("on_open(self, session): session.nothing_like_it()", "raised AttributeError"),
        ("clauses(self, task): return 3", "gave int 3"),
    ],
)
def test_a_plugin_that_goes_wrong_costs_its_line_and_is_named(tmp_path: Path, method: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN.format(method=method))
    conf = (
        f"actions: allocate\nplugins: [{tmp_path / 'mine.py'}]\ntiers: [{{plugins: [{{name: gang}}, {{name: mine}}]}}]"
    )
    crowd = [{**POD, "metadata": {"name": name}} for name in "abcdefg"]
    lines = [{"id": "1", "objects": [NODE, *crowd], "conf": conf}, {"id": "2", "objects": [NODE, POD], "conf": CONF}]

    wrong, right = map(msgspec.json.decode, answer_lines(map(msgspec.json.encode, lines), NOTHING_SAID))

    assert right["binds"] == {"default/p": "n"}
    assert said in str(wrong)
    assert "Posse itself" not in str(wrong)


def test_an_answer_that_is_no_json_costs_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "result_of", lambda *_: {"binds": {object(): 1}})
    line = msgspec.json.encode({"id": "x", "objects": []})

    (told,) = map(msgspec.json.decode, answer_lines([line], NOTHING_SAID))

    assert told["id"] == "x"
    assert "Posse itself failed" in told["error"]["message"]
