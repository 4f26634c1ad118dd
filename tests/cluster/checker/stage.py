"""How tests of the rules judge what a tape tells."""

from collections.abc import Collection
from math import inf

from tests.cluster.checker.report import Report, Rule
from tests.cluster.checker.tape import Tape
from tests.cluster.checker.verdict import Terms, judge

TERMS = Terms({"posse"}, repair_time=2, slack=1, explain_time=10)


def judged(tape: Tape, started: Collection[str] = (), by: float = inf) -> Report:
    """Judge what was told so far."""
    return judge(tape.end(), TERMS, started, by)


def broken(tape: Tape) -> set[Rule]:
    """Give the rules that were broken so far."""
    return set(judged(tape).broken)
