"""The example package, installed as anybody would install it, is known to a configuration by its name."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "examples" / "plugin-package"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the package is installed into, without a network."""
    folder = tmp_path_factory.mktemp("site")
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *flags, "--target", folder, PACKAGE], check=True)
    return folder


def run(site: Path, *command: str | Path) -> str:
    """Run a command in a Python that has the package."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    told = subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def posse(site: Path, *words: str | Path) -> str:
    return run(site, Path(sys.executable).with_name("posse"), *words)


def test_it_is_listed_with_its_arguments(site: Path) -> None:
    listed: list[dict[str, Any]] = json.loads(posse(site, "plugins", "licenses", "-o", "json"))

    assert [plugin["name"] for plugin in listed] == ["licenses"]
    assert [argument["name"] for argument in listed[0]["arguments"]] == ["licenses.<name>"]


def test_it_has_its_say_in_a_simulation(site: Path) -> None:
    flags = ("--config", PACKAGE / "scheduler.conf", "--cycles", "1", "-o", "json")
    record = json.loads(posse(site, "simulate", "-f", PACKAGE / "scenario.yaml", *flags))

    assert sorted(record["binds"]) == ["default/engine-0", "default/engine-1", "default/engine-2"]


def test_its_own_tests_pass(site: Path) -> None:
    run(
        site,
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        PACKAGE,
        PACKAGE / "tests",
    )
