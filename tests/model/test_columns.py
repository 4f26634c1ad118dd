"""The arrays grow without losing anything, and their logs say when something was missed."""

import numpy as np

from posse.cluster.columns import LAYOUT, LOG_LENGTH, Columns, tie_rank
from posse.cluster.ledger import Ledger


def test_every_array_is_laid_out_once() -> None:
    columns = Columns(3)
    arrays = {**columns.ledger._asdict(), **columns.traits._asdict()}

    assert {name for name in arrays if not name.endswith(("_log", "_ends"))} == set(LAYOUT)


def test_growing_keeps_what_is_there_and_fills_the_rest() -> None:
    columns = Columns(3)
    columns.ledger.task_node[5] = 7
    columns.ledger.node_used[1, 2] = 11

    columns.grow_tasks(1000)
    columns.widen(6)

    assert columns.ledger.task_node[5] == 7
    assert (columns.ledger.task_node[6:] == -1).all()
    assert columns.ledger.node_used[1, 2] == 11
    assert columns.ledger.node_used.shape[0] == 6
    assert columns.ledger.node_used.sum() == 11


def test_growing_to_less_does_nothing() -> None:
    columns = Columns(3)
    before = columns.ledger
    columns.grow_gangs(1)

    assert columns.ledger is before


def test_the_logs_begin_anew_when_they_are_full_and_say_so() -> None:
    columns = Columns(3)
    columns.add_node(0, 0, "n")
    for _ in range(LOG_LENGTH):
        columns.log_node(0)
    assert columns.log_epoch == 0

    columns.log_node(0)

    assert columns.log_epoch == 1
    assert int(columns.ledger.log_ends[0]) == 1


def test_the_logs_take_as_much_as_is_asked_for() -> None:
    columns = Columns(3)
    columns.reserve_logs(3 * LOG_LENGTH)

    assert len(columns.ledger.node_log) >= 3 * LOG_LENGTH
    assert isinstance(columns.ledger, Ledger)


def test_a_copy_shares_no_array() -> None:
    columns = Columns(3)
    copy = columns.fork()

    assert not any(np.shares_memory(mine, theirs) for mine, theirs in zip(columns.ledger, copy.ledger, strict=True))
    assert not any(np.shares_memory(mine, theirs) for mine, theirs in zip(columns.traits, copy.traits, strict=True))


def test_ties_are_broken_the_same_way_everywhere() -> None:
    assert tie_rank(0, "node-1") == 2803723799533438519
    assert tie_rank(0, "node-1") != tie_rank(1, "node-1")
    assert all(tie_rank(seed, "node-1") >= 0 for seed in range(100))
