"""Whatever happens, who does right is not blamed; and whatever else happens, who does wrong is."""

from collections.abc import Callable, Collection, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cluster.checker.events import Event, Kind
from tests.cluster.checker.model import EXPLAIN, REPAIR, WRONGS, Model
from tests.cluster.checker.report import Report
from tests.cluster.checker.verdict import Terms, judge

TERMS = Terms({"posse"}, repair_time=REPAIR, slack=1.0, explain_time=EXPLAIN)

Lots = st.builds(Random, st.integers(0, 2**32))


def judged(events: Sequence[Event], started: Collection[str] = ()) -> Report:
    return judge(events, TERMS, started)


def told_apart(events: Sequence[Event], random: Random) -> Sequence[Event]:
    """Let the watch of one kind run ahead of the others now and then."""
    kinds = [[it for it in events if (it.kind == kind)] for kind in Kind]
    mixed: list[Event] = []
    while any(kinds):
        mixed.append(random.choice([kind for kind in kinds if kind]).pop(0))
    return mixed


@settings(max_examples=300)
@given(random=Lots, steps=st.integers(0, 60))
def test_who_does_right_is_not_blamed(random: Random, steps: int) -> None:
    model = Model(random)
    for _ in range(steps):
        model.step()

    report = judged(model.tape.end())

    assert not report.violations, str(report)
    assert judged(told_apart(model.tape.end(), random)).violations == []


@settings(max_examples=60)
@given(random=Lots, before=st.integers(0, 30), after=st.integers(0, 30))
@pytest.mark.parametrize("wrong", WRONGS, ids=lambda it: it.__name__)
def test_who_does_wrong_is(wrong: Callable[[Model], Collection[str]], random: Random, before: int, after: int) -> None:
    model = Model(random)
    for _ in range(before):
        model.step()
    started = wrong(model)
    for _ in range(after):
        model.step()

    report = judged(model.tape.end(), started)

    assert [it.rule for it in report.violations] == [WRONGS[wrong]], str(report)
    assert "wrong" in str(report)
