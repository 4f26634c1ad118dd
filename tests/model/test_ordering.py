"""The order of a gang's members follows from their names and ages, never from how they came."""

import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.ordering import by_index_then_age, in_default_order, name_index, natural
from tests.builders import task


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("train-worker-10", 10),
        ("a-b-c-007", 7),
        ("worker-3", -1),
        ("train-worker-x", -1),
        ("-worker-1", -1),
        ("a-b-99999999999", -1),
    ],
)
def test_only_names_of_three_parts_have_an_index(name: str, index: int) -> None:
    assert name_index(name) == index


def test_digits_are_compared_as_numbers() -> None:
    names = ["worker-10", "worker-2", "worker-1b", "Worker-1", "10", "9"]

    assert sorted(names, key=natural) == ["Worker-1", "worker-1b", "worker-2", "worker-10", "9", "10"]


@given(one=st.text("ab-019"), other=st.text("ab-019"))
def test_text_and_numbers_are_compared_in_turn(one: str, other: str) -> None:
    def parts(text: str) -> list[tuple[bool, int, str]]:
        found = re.findall(r"\d+|\D+", text)
        return [(part.isdigit(), int(part), "") if part.isdigit() else (False, 0, part) for part in found]

    assert (natural(one) < natural(other)) == (parts(one) < parts(other))


def test_the_index_goes_before_the_age() -> None:
    old, young = task("a-w-2", created=1), task("a-w-1", created=9)

    assert by_index_then_age(young, old) < 0


def test_without_an_index_on_both_age_decides() -> None:
    old, young = task("late", created=1), task("a-w-1", created=9)

    assert by_index_then_age(old, young) < 0


@pytest.mark.parametrize(
    "names",
    [("a-w-0", "a-w-1", "a-w-2", "a-w-10"), ("one", "three", "two", "zero"), ("a-w-0", "a-w-1", "one", "two")],
)
def test_the_order_in_which_members_came_does_not_matter(names: tuple[str, ...]) -> None:
    facts = [task(name, created=number // 2) for number, name in enumerate(names)]

    for rows in permutations(range(len(facts))):
        assert [facts[row].name for row in in_default_order(list(rows), [*facts])] == list(names)


def test_members_with_equal_uids_still_have_an_order() -> None:
    facts = [task("x", uid="same"), task("b", uid="same"), task("a", uid="same")]

    assert [facts[row].name for row in in_default_order([0, 1, 2], [*facts])] == ["a", "b", "x"]
