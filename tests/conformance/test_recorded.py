"""A sample of the recorded worlds, every family in reach: the answers agree with the record, or differ as known."""

from itertools import groupby

import pytest

from cases import Case, load
from compare import FIELDS
from engine import parts
from judge import judge
from ledger import FILE, read, untruths
from reach import asked

WORLDS_PER_FAMILY = 4


def spaced(worlds: list[Case]) -> list[Case]:
    """A few worlds from all over a family, always the same ones."""
    step = -(-len(worlds) // WORLDS_PER_FAMILY)
    return worlds[::step]


def sample() -> list[Case]:
    have = parts()
    reached = [case for case in load() if asked(case) <= have]
    families = [list(worlds) for _, worlds in groupby(reached, key=lambda case: case.family)]
    return [case for worlds in families for case in spaced(worlds)]


@pytest.mark.parametrize("case", sample(), ids=lambda case: case.id)
def test_a_recorded_world_comes_out_as_recorded_or_as_known(case: Case) -> None:
    outcome = judge(case)

    differing = {outcome.world: {fact.field for fact in outcome.wrong}}

    assert list(untruths(read(FILE.read_text(encoding="utf-8")), differing, FIELDS)) == [], outcome.wrong
