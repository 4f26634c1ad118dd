"""The two scripts, as they are called from outside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cases import FOLDER, Json, load

WORLD = next(iter(load(["allocate-gang"])))


def call(script: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER.parent / script), *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def test_the_runner_tells_people_and_programs_what_it_found(tmp_path: Path) -> None:
    report = tmp_path / "report.json"

    run = call("run.py", "--id", WORLD.id, "--posse", "--jobs", "1", "--json", str(report))
    found: Json = json.loads(report.read_text(encoding="utf-8"))

    assert run.returncode == 0, run.stdout + run.stderr
    assert "The list of known differences is true." in run.stdout
    assert found["recorded"] == found["in_reach"] == found["agree"] == {"allocate-gang": 1}
    assert found["fields"]["bound"] == {"facts": len(WORLD.expect["bound"]), "wrong": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fields", "bound,moods"], "no such field: moods (accepted: bound, "),
        (["--family", "no-such-family"], "invalid choice: 'no-such-family'"),
        (["--id", "no-such-world"], "nothing in reach"),
    ],
)
def test_the_runner_refuses_what_it_does_not_know(arguments: list[str], message: str) -> None:
    run = call("run.py", *arguments)

    assert run.returncode == 2
    assert message in run.stderr


def test_a_question_on_standard_input_is_answered_line_by_line() -> None:
    run = call("answer.py", "volcano", given=json.dumps(WORLD.question) + "\n")

    (answer,) = (json.loads(line) for line in run.stdout.splitlines())

    assert answer["id"] == WORLD.id
    assert {"binds", "evictions", "gangs"} <= set(answer)


def test_a_line_that_is_no_json_is_refused_by_number() -> None:
    run = call("answer.py", "volcano", given="{\n")

    assert run.returncode == 2
    assert "line 1: " in run.stderr
    assert "accepted: one JSON object per line" in run.stderr
