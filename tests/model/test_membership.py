"""Who belongs to a gang, and where its parts are counted."""

import numpy as np

from posse.cluster.facts import SubgroupPolicy
from posse.cluster.membership import Membership
from tests.builders import gang, task


def members(*tasks: int) -> Membership:
    made = Membership()
    made.reach(0)
    for each in tasks:
        made.join(0, each)
    return made


def test_members_join_and_leave() -> None:
    book = members(3, 1, 2)
    book.leave(0, 1)

    assert sorted(book.of(0)) == [2, 3]


def test_a_pod_without_a_gang_joins_nothing() -> None:
    book = members(1)
    book.join(-1, 5)
    book.leave(-1, 5)

    assert book.of(0) == (1,)


def test_the_order_is_kept_until_a_member_comes_goes_or_changes() -> None:
    book, order = members(0, 1), np.array([1, 0], np.int32)
    book.keep_order(0, order)
    assert book.ordered(0) is order

    for change in (lambda: book.join(0, 2), lambda: book.reorder(0), lambda: book.leave(0, 1)):
        book.keep_order(0, order)
        change()
        assert book.ordered(0) is None


def test_every_role_and_sub_gang_has_a_row_of_its_own() -> None:
    book = Membership()
    divided = gang("g", subgroups=(SubgroupPolicy(name="part", match_keys=("part",)),))
    rows = [
        book.role_row(0, "ps"),
        book.role_row(0, "worker"),
        book.role_row(1, "ps"),
        book.subgang_row(0, divided, task("p", labels={"part": "a"})),
        book.subgang_row(0, divided, task("p", labels={"part": "b"})),
    ]

    assert sorted(rows) == [0, 1, 2, 3, 4]
    assert book.role_row(0, "ps") == rows[0]


def test_rows_that_are_given_back_are_used_again() -> None:
    book = Membership()
    given = {book.role_row(0, "ps"), book.role_row(0, "worker")}
    book.forget_cohorts(0)

    assert book.roles(0) == {}
    assert {book.role_row(1, "a"), book.role_row(1, "b")} == given
    assert book.cohort_rows == 2


def test_a_copy_and_its_original_change_alone() -> None:
    book = members(1)
    book.role_row(0, "ps")
    copy = book.fork()
    copy.join(0, 2)
    copy.role_row(0, "worker")

    assert (book.of(0), sorted(copy.of(0))) == ((1,), [1, 2])
    assert (sorted(book.roles(0)), sorted(copy.roles(0))) == (["ps"], ["ps", "worker"])
