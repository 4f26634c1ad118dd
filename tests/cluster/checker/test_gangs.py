"""A gang is bound whole, or in time, or not at all."""

from typing import Any

import pytest

from tests.cluster.checker.events import Kind, Type
from tests.cluster.checker.report import Rule
from tests.cluster.checker.stage import broken, judged
from tests.cluster.checker.tape import Tape


@pytest.fixture
def half(tape: Tape) -> Tape:
    """A gang of three, of whom two are bound."""
    tape.gang("g", 3, "g1", "g2", "g3")
    for name in ("g1", "g2", "g3"):
        tape.explain(name)
    tape.bind("g1", "n1")
    tape.bind("g2", "n1")
    return tape


@pytest.mark.parametrize(("after", "found"), [(1.9, set()), (2.1, {Rule.HALF_BOUND})])
def test_a_gang_is_whole_in_time(half: Tape, after: float, found: set[Rule]) -> None:
    half.wait(after)
    half.bind("g3", "n2")
    half.wait(60)

    assert broken(half) == found


@pytest.mark.parametrize(("after", "found"), [(1.9, set()), (2.1, {Rule.HALF_BOUND})])
def test_or_it_is_released_in_time(half: Tape, after: float, found: set[Rule]) -> None:
    half.wait(after)
    half.leave("g1")
    half.delete("g2")
    half.wait(60)

    assert broken(half) == found


def test_one_that_is_not_released_is_enough(half: Tape) -> None:
    half.leave("g1")
    half.wait(60)

    assert broken(half) == {Rule.HALF_BOUND}


@pytest.mark.parametrize(("after", "found"), [(1.9, set()), (2.1, {Rule.HALF_BOUND})])
def test_what_is_not_over_at_the_end_counts_up_to_the_end(half: Tape, after: float, found: set[Rule]) -> None:
    half.wait(after)

    assert broken(half) == found


def test_a_gang_that_has_started_may_lose_members(half: Tape) -> None:
    half.bind("g3", "n1")
    half.mark(Type.ASKED, name="team/g1")
    half.delete("g1")
    half.wait(60)

    assert broken(half) == set()


def test_a_gang_of_which_nothing_is_left_starts_anew(half: Tape) -> None:
    half.bind("g3", "n1")
    half.mark(Type.ASKED, name="team/g")
    for name in ("g1", "g2", "g3"):
        half.delete(name)
    half.pod("g4", gang="g")
    half.bind("g4", "n1")
    half.wait(60)

    assert broken(half) == {Rule.HALF_BOUND}


def test_who_has_done_its_part_counts(half: Tape) -> None:
    half.change("g1", status={"phase": "Succeeded"})
    half.bind("g3", "n1")
    half.wait(60)

    assert broken(half) == set()


def test_who_has_failed_does_not(half: Tape) -> None:
    half.change("g1", status={"phase": "Failed"})
    half.bind("g3", "n1")
    half.wait(60)

    assert broken(half) == {Rule.HALF_BOUND}


@pytest.mark.parametrize(("minimum", "found"), [(2, set()), (3, {Rule.HALF_BOUND})])
def test_the_minimum_is_what_the_group_says_now(half: Tape, minimum: int, found: set[Rule]) -> None:
    half.wait(1)
    half.gang("g", minimum)
    half.wait(60)

    assert broken(half) == found


def test_a_gang_without_a_group_is_held_to_nothing(half: Tape) -> None:
    half.delete("g", Kind.POD_GROUP)
    half.wait(60)

    assert broken(half) == set()


@pytest.mark.parametrize(
    ("off", "on"),
    [((Type.LOST, {"kind": "Pod"}), (Type.BACK, {"kind": "Pod"})), ((Type.STILL, {}), (Type.MOVING, {}))],
)
def test_nobody_is_blamed_for_time_in_which_nobody_could_act(half: Tape, off: Any, on: Any) -> None:
    half.mark(off[0], **off[1])
    half.wait(60)
    half.mark(on[0], **on[1])
    half.wait(1.9)

    assert broken(half) == set()

    half.wait(0.2)

    assert broken(half) == {Rule.HALF_BOUND}


def test_that_nodes_cannot_be_watched_is_no_excuse(half: Tape) -> None:
    half.mark(Type.LOST, kind="Node")
    half.wait(60)

    assert broken(half) == {Rule.HALF_BOUND}


def test_others_gangs_are_not_ours(tape: Tape) -> None:
    tape.gang("g", 2, "g1", "g2", scheduler="other")
    tape.bind("g1", "n1")
    tape.wait(60)

    assert broken(tape) == set()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_each_attempt_has_its_own_time(half: Tape, times: int) -> None:
    for _ in range(times):
        half.wait(1.5)
        for name in ("g1", "g2"):
            half.leave(name)
            half.delete(name)
            half.pod(name, gang="g")
            half.explain(name)
        half.wait(60)
        half.bind("g1", "n1")
        half.bind("g2", "n1")

    assert broken(half) == set()

    half.wait(2.1)

    assert broken(half) == {Rule.HALF_BOUND}
    assert len(judged(half).violations) == 1


def test_a_spell_that_was_over_before_is_no_excuse(tape: Tape) -> None:
    tape.mark(Type.STILL)
    tape.wait(1)
    tape.mark(Type.MOVING)
    tape.wait(1)
    tape.gang("g", 2, "g1", "g2")
    tape.bind("g1", "n1")
    tape.wait(1.9)
    tape.bind("g2", "n1")

    assert broken(tape) == set()

    tape.gang("h", 2, "h1", "h2")
    tape.bind("h1", "n1")
    tape.wait(2.1)
    tape.bind("h2", "n1")

    assert broken(tape) == {Rule.HALF_BOUND}


def test_spells_that_overlap_are_one(half: Tape) -> None:
    half.mark(Type.STILL)
    half.wait(1)
    half.mark(Type.LOST, kind="Pod")
    half.wait(1)
    half.mark(Type.MOVING)
    half.wait(1)
    half.mark(Type.BACK, kind="Pod")
    half.wait(1.9)

    assert broken(half) == set()

    half.wait(0.2)

    assert broken(half) == {Rule.HALF_BOUND}


def test_a_spell_that_is_not_over_lasts_to_the_end(half: Tape) -> None:
    half.mark(Type.LOST, kind="Pod")
    half.wait(60)

    assert broken(half) == set()


def test_what_has_room_starts_in_time(half: Tape) -> None:
    half.wait(1)
    half.bind("g3", "n1")
    half.pod("alone")
    half.bind("alone", "n2")
    half.wait(60)
    names = ["team/g", "team/alone"]

    assert judged(half, names).broken == set()
    assert judged(half, names, by=half.now - 59).broken == set()
    assert [it.who for it in judged(half, names, by=half.now - 60.5).violations] == names
    assert judged(half, ["team/nobody"]).broken == {Rule.NOT_STARTED}


def test_half_a_gang_may_be_released(half: Tape) -> None:
    half.leave("g1")
    half.delete("g1")
    half.leave("g2")

    assert broken(half) == set()
    assert [it.excuse for it in judged(half).evictions] == ["to repair", "to repair"]


def test_but_not_those_of_it_that_are_nowhere(half: Tape) -> None:
    half.leave("g3")

    assert broken(half) == {Rule.EVICTED}


def test_what_has_started_again_is_no_half(half: Tape) -> None:
    half.mark(Type.ASKED, name="team/g1")
    half.bind("g3", "n1")
    for name in ("g1", "g2", "g3"):
        half.delete(name)
        half.pod(name, gang="g")
    for name in ("g1", "g2", "g3"):
        half.bind(name, "n2")
    before = judged(half)
    half.delete("g2")

    assert [it.pod.key for it in before.evictions] == ["team/g2", "team/g3"]
    assert {it.excuse for it in judged(half).evictions} == {""}
    assert len(judged(half).violations) == 3


def test_what_is_left_of_a_start_that_was_taken_back_may_go(half: Tape) -> None:
    half.mark(Type.ASKED, name="team/g")
    half.bind("g3", "n1")
    for name in ("g1", "g2", "g3"):
        half.delete(name)
    half.events = [it for it in half.events if it.type != Type.ASKED]
    half.pod("g4", gang="g")
    half.bind("g4", "n1")
    half.leave("g4")

    assert [it.excuse for it in judged(half).evictions] == ["", "", "", "to repair"]


def test_each_start_is_one_for_itself(half: Tape) -> None:
    half.mark(Type.ASKED, name="team")
    half.bind("g3", "n1")
    for start in range(3):
        names = [name if start == 0 else f"{name}-{start}" for name in ("g1", "g2", "g3")]
        for name in names if start else ():
            half.pod(name, gang="g")
            half.bind(name, "n1")
        half.delete(names[0])
        half.wait(60)
        for name in names[1:]:
            half.delete(name)

    assert broken(half) == set()

    half.pod("g4", gang="g")
    half.bind("g4", "n1")
    half.wait(60)

    assert broken(half) == {Rule.HALF_BOUND}
