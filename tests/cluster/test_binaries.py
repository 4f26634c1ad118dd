"""The programs of a control plane are used where they are, built where they are not, and insisted on in CI."""

import fcntl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster import binaries
from tests.cluster.binaries import CORE, PROGRAMS, STAGES, cached, find_or_build, main
from tests.cluster.fixtures import skipped_without
from tests.cluster.progress import UnavailableError, run
from tests.cluster.toolchain import ENVIRONMENT
from tests.cluster.waiting import comes_true

GO = """#!/bin/sh
echo "$@" >> {folder}/asked
case "$*" in
  "list -m -f"*) echo {folder} ;;
  build*"$BROKEN") echo no such luck; exit 1 ;;
  build*) while [ "$1" != -o ]; do shift; done; echo made > "$2" ;;
esac
"""
"""Builds anything in no time but what is BROKEN, and writes down what it was asked."""


class Builds:
    """A cache that is empty at first, a Go to fill it with, and what both are told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []

    def find_or_build(self) -> set[str]:
        return set(find_or_build(self.said.append))

    @property
    def built(self) -> list[str]:
        asked = self.folder / "asked"
        lines = asked.read_text().splitlines() if asked.exists() else []
        return [line.split()[-1] for line in lines if line.startswith("build")]


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builds:
    stages = tmp_path / "kustomize" / "stage" / "pod" / "fast"
    stages.mkdir(parents=True)
    (stages / "pod-ready.yaml").write_text("kind: Stage\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "go").write_text(GO.format(folder=tmp_path))
    (tmp_path / "bin" / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("KUBEBUILDER_ASSETS", "CI", "POSSE_REQUIRE_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    broken(monkeypatch, "nothing")
    return Builds(tmp_path)


def broken(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the Go fail to build a program."""
    monkeypatch.setattr(binaries, "ENVIRONMENT", ENVIRONMENT | {"BROKEN": PROGRAMS.get(name, name)})


def test_what_is_missing_is_built_once(builds: Builds) -> None:
    assert builds.find_or_build() == {*PROGRAMS, STAGES}
    assert builds.find_or_build() == {*PROGRAMS, STAGES}

    assert builds.built == list(PROGRAMS.values())
    assert (cached() / STAGES).read_text() == "kind: Stage\n"


def test_every_program_is_told_while_it_is_built(builds: Builds) -> None:
    builds.find_or_build()

    assert "kube-apiserver (2 of 6) ..." in builds.said
    assert "kube-apiserver (2 of 6): 0 s" in builds.said


def test_the_server_is_told_its_release(builds: Builds) -> None:
    builds.find_or_build()

    assert "gitVersion=v1." in (builds.folder / "asked").read_text()


def test_other_versions_are_kept_elsewhere(builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cached()
    monkeypatch.setattr(binaries, "FLAGS", ("-race",))

    assert cached() != before


def test_a_build_that_was_broken_off_goes_on_where_it_was(builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "kube-apiserver")
    with pytest.raises(UnavailableError, match=r"kube-apiserver \(2 of 6\) failed:\nno such luck$"):
        builds.find_or_build()

    broken(monkeypatch, "nothing")
    builds.find_or_build()

    assert builds.built.count(PROGRAMS["etcd"]) == 1
    assert [path.name for path in cached().parent.glob("building-*")] == []


def test_what_the_user_has_is_used(builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(builds.folder / "assets"))
    (builds.folder / "assets").mkdir()
    for name in CORE:
        (builds.folder / "assets" / name).touch()

    assert find_or_build(builds.said.append)["etcd"] == builds.folder / "assets" / "etcd"
    assert builds.built == [PROGRAMS["kube-controller-manager"], PROGRAMS["kwok"]]


def test_extras_that_cannot_be_built_are_gone_without(builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "kwok")

    assert builds.find_or_build() == {*PROGRAMS} - {"kwok"}
    assert builds.said[-1].startswith("going without what is missing. kwok (5 of 6) failed:")


def test_of_two_builders_one_waits(builds: Builds) -> None:
    cached().parent.mkdir(parents=True)
    with ThreadPoolExecutor(1) as other, (cached().parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = other.submit(builds.find_or_build)
        assert comes_true(lambda: any("waiting" in line for line in builds.said))
        assert builds.built == []
        fcntl.flock(lock, fcntl.LOCK_UN)

        assert waiting.result() == {*PROGRAMS, STAGES}


def test_a_long_build_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.cluster.progress.STILL_AT_IT", 0.01)
    said: list[str] = []

    run(["sleep", "0.1"], "a nap", said.append, cwd=tmp_path, env={})

    assert "a nap ... 0 s so far" in said


@pytest.mark.parametrize(("insists", "code"), [("", 0), ("CI", 1), ("POSSE_REQUIRE_CLUSTER", 1)])
def test_only_who_insists_fails_without(
    insists: str, code: int, builds: Builds, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch, "etcd")
    monkeypatch.setattr(sys, "argv", ["binaries", "--optional"])
    if insists:
        monkeypatch.setenv(insists, "1")

    assert main() == code
    assert "To have it: `make cluster`" in capsys.readouterr().err


def test_a_test_without_its_cluster_is_skipped_and_says_how_to_get_it(builds: Builds) -> None:
    with (
        pytest.raises(pytest.skip.Exception, match=r"no control plane: no network\nTo have it: `make cluster`"),
        skipped_without(),
    ):
        raise UnavailableError("no network")


def test_where_it_is_insisted_on_it_fails(builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="no network"), skipped_without():
        raise UnavailableError("no network")
