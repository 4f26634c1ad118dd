"""What is not known is not judged."""

import pytest

from tests.cluster.checker.events import Type
from tests.cluster.checker.report import Rule
from tests.cluster.checker.stage import TERMS, broken, judged
from tests.cluster.checker.tape import Tape
from tests.cluster.checker.verdict import judge


@pytest.mark.parametrize(
    ("after", "until", "found"),
    [(103, 105, set()), (103, 104, set()), (104, 105, {Rule.MISPLACED}), (102, 103, {Rule.MISPLACED})],
)
def test_a_bind_that_nobody_saw_is_not_judged(tape: Tape, after: int, until: int, found: set[Rule]) -> None:
    tape.pod("a", cpu="9")
    tape.mark(Type.BLIND, kind="Node", after=after, until=until)
    tape.bind("a", "n3")

    assert tape.events[-1].revision == 104
    assert broken(tape) == found
    assert "1 gaps in what is known of Node" in str(judged(tape))


def test_a_pod_that_came_with_its_node_was_bound_by_nobody(tape: Tape) -> None:
    tape.pod("a", nodeName="n3")

    assert broken(tape) == set()


def test_nothing_seen_is_nothing_found() -> None:
    assert judge([], TERMS).broken == set()
