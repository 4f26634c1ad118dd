"""The Dockerfile, carried out without an engine: its steps in a folder, with the Python that runs the tests.

What would be fetched is taken from that Python's own packages, so no network is needed. What is not tried here is the
base image, and that the engine takes our lines as we mean them.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = "/opt/posse"
"""Where the image has everything. Here it is a folder of the test's."""


class Stage:
    """The steps from one FROM to the next."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str]] = []

    def words(self, instruction: str) -> list[str]:
        """What follows an instruction, in all steps that have it."""
        return [text for name, text in self.steps if name == instruction]

    @property
    def environment(self) -> dict[str, str]:
        """What its ENV steps set."""
        return dict(pair.split("=", 1) for text in self.words("ENV") for pair in shlex.split(text))


def stages() -> list[Stage]:
    """Read the file."""
    found: list[Stage] = []
    for name, text in steps((ROOT / "Dockerfile").read_text("utf-8")):
        if name == "FROM":
            found.append(Stage())
        elif found:
            found[-1].steps.append((name, text))
    return found


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Take a Dockerfile without continued lines apart."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest


def build(stage: Stage, folder: Path) -> Path:
    """Carry out a stage's COPY and RUN steps in a folder; give what stands for `/opt/posse`."""
    source, place = folder / "source", folder / "opt" / "posse"
    source.mkdir()
    offline = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which is how pip reads it: none
    }
    for name, text in stage.steps:
        if name == "COPY":
            copy(text.split(), source)
        elif name == "RUN":
            command = text.replace(PLACE, str(place))
            done = subprocess.run(
                ["sh", "-ec", command],
                cwd=source,
                env=os.environ | moved(stage, place) | offline,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return place


def moved(stage: Stage, place: Path) -> dict[str, str]:
    """The environment of a stage, with our folder for the image's."""
    return {name: value.replace(PLACE, str(place)) for name, value in stage.environment.items()}


def copy(words: list[str], into: Path) -> None:
    """Do as COPY does: files into a folder, or a folder as another."""
    *names, target = words
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, into / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, into / target)
