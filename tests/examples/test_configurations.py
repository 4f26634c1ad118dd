"""The example configurations are what they say they are."""

from pathlib import Path

import pytest

from posse.scheduler.configuration import DEFAULT_CONF
from tests.examples.command import told

CONF = Path(__file__).resolve().parents[2] / "examples" / "conf"


def without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))


@pytest.mark.parametrize("name", ["default", "recommended"])
def test_an_example_configuration_is_accepted_without_a_word_of_warning(name: str) -> None:
    assert "!" not in told("config", "check", str(CONF / f"{name}.conf"))


def test_the_default_is_the_one_that_holds_where_none_is_given() -> None:
    assert without_comments((CONF / "default.conf").read_text()) == DEFAULT_CONF == told("config", "default")


def test_the_recommended_one_is_what_the_command_prints() -> None:
    assert (CONF / "recommended.conf").read_text() == told("config", "recommended")
