"""Orders that follow from what facts say, never from when or in which row they came.

Volcano orders the tasks of a job by the index at the end of their names, and falls back to age. Two tasks are compared
by index only if both have one, so this order has no key and is a comparator.
"""

import re
import sys
from functools import cmp_to_key

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import TaskFact

NO_INDEX = -1
_LAST_NUMBER = re.compile(r"^.+-.+-(\d+)$", re.ASCII)
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_FIRST, _LAST = "\0", chr(sys.maxunicode)

LARGEST_INDEX = 2**31 - 1
FEW = 16
"""Tasks of which sorting one by one costs less than arrays do."""


def name_index(name: str) -> int:
    """The index a task's name ends in.

    Only names of three parts or more have one: `train-worker-10`, not `worker-10`.
    """
    found = _LAST_NUMBER.match(name)
    if not found:
        return NO_INDEX
    index = int(found.group(1))
    return index if index <= LARGEST_INDEX else NO_INDEX


def natural(text: str) -> str:
    """A sort key that compares digits as numbers: `worker-2` before `worker-10`. Text that begins with digits is last.

    It is the text, with each number behind a sign that sorts before all others, and behind its length.
    """
    key = _DIGITS.sub(_number_key, text)
    return _LAST + key if text[:1].isdigit() else key


def _number_key(number: re.Match[str]) -> str:
    digits = number[1].lstrip("0")
    return f"{_FIRST}{chr(len(digits))}{digits}"


def by_index_then_age(left: TaskFact, right: TaskFact) -> int:
    """The default order of two tasks of a gang: negative if the left one goes first."""
    left_index, right_index = name_index(left.name), name_index(right.name)
    if left_index != right_index and NO_INDEX not in (left_index, right_index):
        return left_index - right_index
    left_age, right_age = (left.created, left.uid), (right.created, right.uid)
    return (left_age > right_age) - (left_age < right_age)


def in_default_order(rows: list[int], facts: list[TaskFact | None]) -> list[int]:
    """Rows of tasks in the default order.

    With an index on all or none of them, keys do; else the comparator decides.
    """
    known = [(name_index(fact.name), fact.created, fact.uid, fact.name, row) for row in rows if (fact := facts[row])]
    if any(index == NO_INDEX for index, *_ in known):
        known.sort(key=lambda each: each[1:])
        if any(index != NO_INDEX for index, *_ in known):
            compare = cmp_to_key(by_index_then_age)
            known.sort(key=lambda each: compare(_fact(facts, each[-1])))
    else:
        known.sort()
    return [row for *_, row in known]


def in_order(
    rows: NDArray[np.int32],
    indexes: NDArray[np.int64],
    created: NDArray[np.int64],
    facts: list[TaskFact | None],
) -> NDArray[np.int32]:
    """The same with what is known by row of all tasks: by index, then by age; by more only where that does not tell all
    of them apart.
    """
    if len(rows) < FEW:
        return np.array(in_default_order(rows.tolist(), facts), np.int32)
    order = np.lexsort((created[rows], indexes[rows]))
    ordered = rows[order]
    index, age = indexes[ordered], created[ordered]
    if index[0] != NO_INDEX and ((np.diff(index) > 0) | (np.diff(age) > 0)).all():
        return ordered
    return np.array(in_default_order(rows.tolist(), facts), np.int32)


def _fact(facts: list[TaskFact | None], row: int) -> TaskFact:
    fact = facts[row]
    assert fact is not None
    return fact
