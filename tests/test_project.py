"""The project keeps the promises it makes about itself."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import posse

ROOT = Path(__file__).resolve().parent.parent
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc"}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def python_files() -> list[Path]:
    folders = ("src", "tests", "conformance", "bench", "docs", "examples")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def test_the_version_is_the_same_wherever_it_is_told() -> None:
    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == posse.__version__


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert re.findall(r"^## \[(.+?)\]", text("CHANGELOG.md"), re.MULTILINE)[0] == "Unreleased"


def test_files_stay_small() -> None:
    assert [path for path in python_files() if len(path.read_text(encoding="utf-8").splitlines()) > 500] == []


def test_file_names_say_something() -> None:
    assert [path for path in python_files() if path.stem in SAYS_NOTHING] == []


def test_a_change_is_checked_by_the_command_that_the_readme_names() -> None:
    assert "make test" in text("README.md")
    assert text(".ci/run").rstrip().endswith("\nmake test")


def test_help_tells_every_chore() -> None:
    told = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    chores = re.search(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)

    assert chores
    assert re.findall(r"^  make ([a-z-]+)", told.stdout, re.MULTILINE) == chores[1].split()


@pytest.mark.parametrize("script", ["conformance/run.py", "conformance/answer.py"])
def test_the_scripts_say_how_they_are_used(script: str) -> None:
    told = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True, check=False)

    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("usage: ")


def test_the_docs_links_resolve_and_their_commands_exist() -> None:
    check = subprocess.run([sys.executable, ROOT / "docs/check.py"], capture_output=True, text=True, check=False)

    assert check.returncode == 0, check.stdout + check.stderr
