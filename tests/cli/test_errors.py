"""What people see when something is wrong: one message, an exit code, and never a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.manifests import job, node, pod, written
from tests.cli.posse import Posse

BAD_CPU = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, resources: {requests: {cpu: four}}}]}
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n}
"""
BIG = "9" * 5000
RUN = "posse.cli.simulate.run_to_the_end"

FAULTS = {
    "no such file": (("-f", "none.yaml"), ["none.yaml: no such file or folder", "accepted: a file, a folder or -"]),
    "no manifests": ((), ["Name manifests with -f"]),
    "two ways to stop": (("-f", "ok.yaml", "--cycles", "1", "--until", "1m"), ["give one"]),
    "no length of time": (("-f", "ok.yaml", "--until", "soon"), ["--until: 'soon' is no length of time", "1h30m"]),
    "no time": (("-f", "ok.yaml", "--now", "noon"), ["--now: 'noon' is no time", "accepted: RFC 3339"]),
    "no names": (("-f", "ok.yaml", "--scheduler-names", ","), ["--scheduler-names: names nobody"]),
    "no cycles": (("-f", "ok.yaml", "--cycles", "0"), ["--cycles"]),
    "no such side": (("-f", "ok.yaml", "--compatibility", "other"), ["'posse', 'upstream'"]),
    "no such configuration": (("-f", "ok.yaml", "--config", "none.conf"), ["none.conf: cannot be read"]),
    "a slip in the configuration": (("-f", "ok.yaml", "--config", "bad.conf"), ["bad.conf, line 3", "'gang'"]),
    "a slip in the other configuration": (("-f", "ok.yaml", "--compare", "bad.conf"), ["bad.conf, line 3"]),
    "a bad quantity": (("-f", "bad.yaml"), ["bad.yaml, line 6, document 2", "Pod default/p", "cpu", "'four'"]),
    "no YAML": (("-f", "broken.yaml"), ["broken.yaml", "is not YAML"]),
    "a number beyond all bounds": (("-f", "big.json"), ["big.json, Node n, status.allocatable", "out of range"]),
    "the same as YAML": (("-f", "big.yaml"), ["big.yaml, line 4, document 1", "a number of 5,000 digits"]),
    "a time that is none": (("-f", "late.yaml"), ["late.yaml, line 1, document 1, Node n", "'2024-13-41' is no time"]),
    "no steps": (("-f", "ok.yaml", "--steps", "ok.yaml"), ["ok.yaml, step", "after_cycle"]),
    "a batch of files": (("--batch", "-f", "ok.yaml"), ["--batch reads whole scenarios from stdin"]),
    "two runs, one demand": (("-f", "ok.yaml", "--compare", "bad.conf", "--require-all"), ["about one run"]),
}


@pytest.fixture
def folder(posse: Posse, monkeypatch: pytest.MonkeyPatch) -> Posse:
    posse.file("ok.yaml", NODE)
    posse.file("bad.yaml", BAD_CPU)
    posse.file("broken.yaml", "a: [1\nb: }")
    posse.file("big.json", json.dumps(node("n")).replace('"4"', BIG))
    posse.file("big.yaml", NODE + f"status: {{allocatable: {{cpu: {BIG}}}}}\n")
    posse.file("late.yaml", NODE.replace("name: n", "name: n, creationTimestamp: '2024-13-41'"))
    posse.file("bad.conf", 'actions: "allocate"\ntiers:\n- plugins: [{name: gong}]\n')
    monkeypatch.chdir(posse.folder)
    return posse


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_said_in_full_and_exits_with_two(fault: str, folder: Posse) -> None:
    words, told = FAULTS[fault]

    result = folder("simulate", *words)

    assert result.exit_code == 2, result.output
    assert [part for part in told if part not in result.stderr] == []
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_a_fault_of_ours_is_confessed_without_a_traceback(folder: Posse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, lambda *_: 1 / 0)

    result = folder("simulate", "-f", "ok.yaml")

    assert result.exit_code == 70
    assert "POSSE_DEBUG=1" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.output


def test_the_traceback_is_there_for_who_asks(folder: Posse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, lambda *_: 1 / 0)

    assert isinstance(folder("simulate", "-f", "ok.yaml", POSSE_DEBUG="1").exception, ZeroDivisionError)


def test_an_interrupt_is_quiet(folder: Posse, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RUN, interrupted)

    result = folder("simulate", "-f", "ok.yaml")

    assert (result.exit_code, result.output) == (130, "")


def test_a_reader_who_leaves_is_no_fault(tmp_path: Path) -> None:
    file = written(tmp_path / "cluster.json", [node("n1", 640), job("j", 600), pod("p")])
    command = f"{sys.executable} -c 'from posse.cli.main import main; main()' simulate -f {file} --cycles 1 -o json"

    run = subprocess.run(["bash", "-c", f"{command} | head -c 10"], capture_output=True, text=True, check=True)

    assert run.stderr == ""


def test_a_slip_in_a_verb_is_helped(posse: Posse) -> None:
    result = posse("simulat")

    assert result.exit_code == 2
    assert "did you mean 'simulate'?" in result.stderr


def test_a_cache_that_cannot_be_written_is_warned_of_once_and_beside_the_result(tmp_path: Path) -> None:
    written(tmp_path / "cluster.json", [node("n1"), pod("p")])
    words = ["simulate", "-f", str(tmp_path / "cluster.json"), "-o", "json"]
    (tmp_path / "no folder").write_text("")

    ran = subprocess.run(
        [sys.executable, "-c", "from posse.cli.main import main; main()", *words],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "no folder"), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(ran.stdout)["binds"] == {"default/p": "n1"}
    assert ran.stderr.count("Warning: compiled kernels cannot be kept") == 1
    assert "no folder" in ran.stderr
    assert "Set NUMBA_CACHE_DIR to a folder that can be written to." in ran.stderr
