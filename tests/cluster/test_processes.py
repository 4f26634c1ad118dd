"""A process of a control plane ends when it should, and says why when it should not have."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.processes import Process, StartError, bound_to_us
from tests.cluster.waiting import comes_true

ROOT = Path(__file__).resolve().parents[2]


def alive(pid: int) -> bool:
    """Whether there is such a process, and not only its exit code, which nobody has asked for yet."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc").exists()


def shell(script: str, log: Path) -> Process:
    return Process("shell", ["sh", "-c", script], log)


def child_of(process: Process) -> int:
    assert comes_true(lambda: process.log.read_text().endswith("\n"))
    return int(process.log.read_text())


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    with shell("sleep 1000 & echo $!; wait", tmp_path / "log") as process:
        child = child_of(process)
        assert alive(child)

    assert not process.running
    assert comes_true(lambda: not alive(child))


def test_it_may_end_kindly_even_if_it_was_paused(tmp_path: Path) -> None:
    process = shell("trap 'echo goodbye; exit' TERM; echo ready; while :; do sleep 0.01; done", tmp_path / "log")
    process.until(lambda: process.last_words() == "ready")
    process.pause()

    process.stop(grace=10)

    assert process.last_words().endswith("goodbye")


def test_who_has_no_ear_is_ended_by_force(tmp_path: Path) -> None:
    process = shell("trap '' TERM; echo ready; while :; do sleep 1; done", tmp_path / "log")
    process.until(lambda: process.last_words() == "ready")

    process.stop(grace=0.1)

    assert not process.running


def test_one_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"(?s)shell ended with 3\. The end of .*log:\nno such flag"):
        shell("echo no such flag >&2; exit 3", tmp_path / "log").until(lambda: False)


def test_one_that_is_never_ready_is_stopped_and_told(tmp_path: Path) -> None:
    process = shell("sleep 1000", tmp_path / "log")

    with pytest.raises(StartError, match="was not ready in time"):
        process.until(lambda: False, patience=0.1)

    assert not process.running


@pytest.mark.skipif(not bound_to_us(), reason="the kernel here ends nobody with its parent")
def test_it_does_not_outlive_us_when_we_are_killed(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from tests.cluster.processes import Process\n"
        f"print(Process('sleep', ['sleep', '1000'], Path({str(tmp_path / 'log')!r})).pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        assert alive(pid)
        os.kill(parent.pid, signal.SIGKILL)

    assert comes_true(lambda: not alive(pid))
