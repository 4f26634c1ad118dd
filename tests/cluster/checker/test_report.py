"""A report can be read."""

import sys
from pathlib import Path

import pytest

from tests.cluster.checker.events import Type, write
from tests.cluster.checker.tape import Tape
from tests.cluster.checker.verdict import Terms, judge, main

TERMS = Terms({"posse"}, repair_time=2)

TOLD = """\
2 violations in 62.5 s: 9 events, 1 nodes, 1 gangs, 3 pods, 2 binds by posse

a node was given more than it has: node n1, 62.500 s to 62.500 s
  with team/big its 2 pods take 10 of 4 cpu
    61.000 s  revision 107  Pod team/g1 MODIFIED on n1, Pending
    62.500 s  revision 109  Pod team/big MODIFIED on n1, Pending

a gang stayed half bound: gang team/g, 61.000 s to 62.500 s
  1 of the 2 members it needs were bound for 1.500 s, and 1 s are allowed
    61.000 s  revision 107  Pod team/g1 MODIFIED on n1, Pending"""


def broken() -> Tape:
    tape = Tape()
    tape.node("n1")
    tape.wait(60)
    tape.gang("g", 2, "g1", "g2")
    tape.explain("g1")
    tape.explain("g2")
    tape.wait(1)
    tape.bind("g1", "n1")
    tape.wait(1.5)
    tape.pod("big", cpu="9")
    tape.bind("big", "n1")
    return tape


def test_it_tells_who_did_what_and_when() -> None:
    assert str(judge(broken().end(), Terms({"posse"}, repair_time=1))) == TOLD


def test_it_tells_what_is_in_the_way_of_knowing_more() -> None:
    tape = Tape()
    tape.mark(Type.LOST, kind="Pod")
    tape.wait(3)
    tape.mark(Type.BACK, kind="Pod")

    assert str(judge(tape.end(), TERMS)).endswith("0 binds by posse, 3.0 s in which nobody could act")


def test_it_tells_of_evictions_that_were_right() -> None:
    tape = broken()
    tape.condition("g1", {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"})
    tape.leave("g1")

    assert str(judge(tape.end(), TERMS)).endswith(
        "gone, to repair:   62.500 s  revision 111  Pod team/g1 MODIFIED on n1, Pending, leaving"
        " (EvictionByEvictionAPI)"
    )


def test_a_long_proof_is_told_from_both_ends() -> None:
    tape = Tape()
    tape.node("n1")
    for number in range(40):
        tape.pod(f"p{number}", cpu="0")
        tape.bind(f"p{number}", "n1")

    last = str(judge(tape.end(), TERMS)).rpartition("a node was given more than it has")[2]

    assert "  ... 28 events more\n" in last
    assert last.count(" MODIFIED on n1") == 12


@pytest.mark.parametrize(("lines", "code"), [(-1, 1), (-2, 0)])
def test_a_file_is_judged_anew(
    lines: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path / "seen", broken().end()[:lines])
    monkeypatch.setattr(sys, "argv", ["verdict", str(tmp_path / "seen"), "--scheduler", "posse", "--repair-time", "2"])

    assert main() == code
    assert capsys.readouterr().out.startswith(f"{code} violations in 62.5 s")
