"""The image's steps work, and what they make runs where nothing can be written, without compiling anything."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.deploy.dockerfile import ROOT, build, moved, stages

EXAMPLE = ROOT / "examples" / "01-first-gang.yaml"
POWERLESS = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
"""Takes from root what lets it write where nobody may."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give what would be /opt/posse, which nobody may write to."""
    return read_only(build(stages()[0], tmp_path_factory.mktemp("image")))


def read_only(folder: Path) -> Path:
    """Let nobody write to a folder and what is in it."""
    for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        each.chmod(0o555)
    return folder


def run(place: Path, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run what the image runs, as somebody who can do nothing else and is at home nowhere."""
    (program,) = json.loads(stages()[1].words("ENTRYPOINT")[0])
    powerless = POWERLESS if os.geteuid() == 0 else ()
    assert not powerless or shutil.which(POWERLESS[0]), "root needs setpriv to be like the image's user"
    environment = moved(stages()[1], place)
    environment["PATH"] = environment["PATH"].replace("$PATH", os.environ["PATH"])
    environment |= {"PYTHONPATH": sysconfig.get_path("purelib"), "HOME": "/nonexistent", **more}
    return subprocess.run(
        [*powerless, place / "bin" / program, *words],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )


def test_it_decides_with_the_kernels_that_it_came_with(place: Path) -> None:
    before = sorted(place.rglob("*"))

    ran = run(place, "simulate", "-f", EXAMPLE, "--until", "1m", NUMBA_DEBUG_CACHE="1")

    loaded = set(re.findall(r"data loaded from '.*/(\w+\.\w+)-", ran.stdout))
    assert {"fill.fill", "fill.capacity", "ledger.transfer"} <= loaded
    assert "1 of 2 gangs started, 5 pods bound" in ran.stdout
    assert "compil" not in ran.stderr
    assert sorted(place.rglob("*")) == before


def test_every_kernel_is_among_them(place: Path) -> None:
    files = {file.name.split("-")[0] for file in (place / "kernels").rglob("*.nbc")}
    kernels = {
        f"{file.stem}.{name}"
        for file in (ROOT / "src" / "posse").rglob("*.py")
        for name in re.findall(r"^@kernel\ndef (\w+)", file.read_text("utf-8"), re.M)
    }

    assert kernels
    assert kernels - files == set()


def test_a_kernel_that_is_missing_is_compiled_and_forgotten(place: Path, tmp_path: Path) -> None:
    some = tmp_path / "kernels"
    shutil.copytree(place / "kernels", some, ignore=shutil.ignore_patterns("ledger.*"), copy_function=shutil.copyfile)
    read_only(some)
    before = sorted(some.rglob("*"))

    ran = run(place, "simulate", "-f", EXAMPLE, "--until", "1m", NUMBA_CACHE_DIR=str(some))

    assert "1 of 2 gangs started, 5 pods bound" in ran.stdout
    assert sorted(some.rglob("*")) == before


def test_both_stages_mean_the_same_kernels() -> None:
    build_stage, final = (stage.environment for stage in stages())

    assert {name: final[name] for name in build_stage} == build_stage


def test_nothing_is_sent_to_the_engine_but_what_is_copied() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = [name for text in stages()[0].words("COPY") for name in text.split()[:-1]]

    assert "*" in ignored
    assert sorted(line[1:] for line in ignored if line.startswith("!")) == sorted(copied)
