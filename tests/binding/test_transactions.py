"""Gang transactions: in order of decision, each member once, no pod in two hands."""

import pytest

from posse.binding.line import Line
from posse.binding.transactions import Book, Stage, Transaction, grouped
from posse.cluster.records import Bound, Refused
from tests.binding.scenes import bind


def names(transactions: list[Transaction]) -> list[str]:
    return [f"{it.gang}: " + " ".join(member.bind.pod for member in it.members) for it in transactions]


def test_members_of_a_gang_stand_together_in_the_order_of_decision() -> None:
    binds = [bind("b-0", "b"), bind("a-0", "a"), bind("b-1", "b"), bind("c-0", "c"), bind("a-1", "a")]

    assert names(grouped(binds)) == ["ns/b: ns/b-0 ns/b-1", "ns/a: ns/a-0 ns/a-1", "ns/c: ns/c-0"]


def test_a_transaction_is_done_when_each_member_has_its_outcome() -> None:
    book = Book()
    (gang,) = book.enter([bind("a"), bind("b")])
    first, second = gang.members
    assert gang.stage is Stage.PREPARING
    gang.begin_binding(5.0)

    book.close(first, Bound("ns/a", "uid-a", "n1"))
    assert (gang.stage, book.open) == (Stage.BINDING, 1)

    book.close(second, Refused("ns/b", "uid-b", "no"))
    assert (gang.stage, book.open, book.members()) == (Stage.DONE, 0, [])


def test_nobody_gets_a_second_outcome() -> None:
    book = Book()
    (gang,) = book.enter([bind("a"), bind("b")])
    first = gang.members[0]
    book.close(first, Bound("ns/a", "uid-a", "n1"))

    with pytest.raises(ValueError, match="ns/a has its outcome already"):
        book.close(first, Refused("ns/a", "uid-a"))


def test_a_gang_waits_while_one_of_its_members_is_in_another_hand() -> None:
    book = Book()
    (gang,) = book.enter([bind("a"), bind("b")])
    assert book.enter([bind("b", node="n2"), bind("c")]) == []
    assert book.open == 4
    first, second = gang.members

    assert book.close(first, Refused("ns/a", "uid-a")) == []
    assert names(book.close(second, Refused("ns/b", "uid-b"))) == ["ns/g: ns/b ns/c"]


def test_who_waits_for_a_permit_is_not_overtaken() -> None:
    book = Book()
    (gang,) = book.enter([bind("a")])
    (first,) = gang.members
    assert book.enter([bind("a", "g2"), bind("b", "g2")]) == []
    assert book.enter([bind("b", "g3")]) == []
    assert names(book.enter([bind("c", "g4")])) == ["ns/g4: ns/c"]

    assert names(book.close(first, Refused("ns/a", "uid-a"))) == ["ns/g2: ns/a ns/b"]


def test_a_second_bind_of_a_pod_in_one_cycle_comes_after_the_first() -> None:
    book = Book()
    (gang,) = book.enter([bind("a"), bind("b"), bind("a", node="n2")])
    first, second = gang.members

    assert names([gang]) == ["ns/g: ns/a ns/b"]
    (after,) = book.close(first, Bound("ns/a", "uid-a", "n1"))
    assert [it.bind.node for it in after.members] == ["n2"]
    assert book.close(second, Bound("ns/b", "uid-b", "n1")) == []


def test_a_namesake_is_another_pod() -> None:
    book = Book()
    book.enter([bind("a", uid="1")])

    assert names(book.enter([bind("a", uid="2")])) == ["ns/g: ns/a"]


def test_who_stands_in_line_with_a_lesser_place_goes_first() -> None:
    line: Line[str] = Line()
    line.join(2, "ef")
    line.join(0, "ab")
    line.join(1, "c")
    first = line.take()
    line.join(1, "d")
    line.join(3, "")

    assert len(line) == 5
    assert [first, *(line.take() for _ in range(5))] == ["a", "b", "c", "d", "e", "f"]
    assert line.take() is None
