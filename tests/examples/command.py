"""The command as the examples quote it: words in, what it tells out."""

import json
from typing import Any

from click.testing import CliRunner

from posse.cli.main import posse


def told(*words: str) -> str:
    """What a command prints; it must have succeeded."""
    outcome = CliRunner().invoke(posse, list(words), prog_name="posse", env={"COLUMNS": "80"})
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def simulated(*words: str) -> dict[str, Any]:
    """The result of a simulation."""
    record: dict[str, Any] = json.loads(told("simulate", *words, "-o", "json"))
    return record
