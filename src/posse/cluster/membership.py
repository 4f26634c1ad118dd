"""Who belongs to which gang, in which order, and in which of its roles and sub-gangs.

The lists are bookkeeping beside the columns: a gang's members by row, kept in their default order (see `ordering`) once
somebody asks. Who comes and goes is only noted until then, or until more have than there were, so that thousands may do
so one by one. Roles and sub-gangs are counted like small gangs of their own; each has a *cohort* row in the columns,
given out here. Lists are replaced, never changed in place, so that a fork may share them.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.facts import GangFact, TaskFact
from posse.cluster.subgroups import SubGang, subgang_of

NOBODY: tuple[int, ...] = ()


class Cohorts(Struct, frozen=True, gc=False):
    """The cohort rows of one gang: by role name, and by sub-gang."""

    roles: dict[str, int]
    subgangs: dict[SubGang, int]


class Membership:
    """Members and cohorts of every gang row."""

    def __init__(self) -> None:
        self._members: list[tuple[int, ...]] = []
        self._sizes: list[int] = []
        self._moves: dict[int, dict[int, bool]] = {}
        """By gang, who came (or left, if false) since its members were last listed."""
        self._ordered: dict[int, NDArray[np.int32]] = {}
        self._cohorts: dict[int, Cohorts] = {}
        self._free: list[int] = []
        self.cohort_rows = 0
        """How many cohort rows were ever given out."""

    def reach(self, gang: int) -> None:
        """Make room for a gang row."""
        while len(self._members) <= gang:
            self._members.append(NOBODY)
            self._sizes.append(0)

    def of(self, gang: int) -> tuple[int, ...]:
        """The rows of a gang's tasks, in no particular order."""
        moves = self._moves.pop(gang, None)
        if moves:
            stayed = (task for task in self._members[gang] if task not in moves)
            self._members[gang] = (*stayed, *(task for task, came in moves.items() if came))
        return self._members[gang]

    def size(self, gang: int) -> int:
        """How many tasks a gang has."""
        return self._sizes[gang]

    def join(self, gang: int, task: int) -> None:
        """Let a task be a member."""
        self._move(gang, task, came=True)

    def leave(self, gang: int, task: int) -> None:
        """Let a task be a member no more."""
        self._move(gang, task, came=False)

    def _move(self, gang: int, task: int, *, came: bool) -> None:
        self._sizes[gang] += 1 if came else -1
        moves = self._moves.setdefault(gang, {})
        moves[task] = came
        self._ordered.pop(gang, None)
        if len(moves) > len(self._members[gang]):
            self.of(gang)

    def reorder(self, gang: int) -> None:
        """Forget the order of a gang whose member changed."""
        self._ordered.pop(gang, None)

    def ordered(self, gang: int) -> NDArray[np.int32] | None:
        """The rows of a gang's tasks in their default order, if somebody put them in order since they last changed."""
        return self._ordered.get(gang)

    def keep_order(self, gang: int, ordered: NDArray[np.int32]) -> None:
        """Remember the default order of a gang's tasks until one of them changes."""
        self._ordered[gang] = ordered

    # ------------------------------------------------------------------ cohorts

    def role_row(self, gang: int, role: str) -> int:
        """The cohort row of a role of a gang, made if it is new."""
        roles = self._cohorts_of(gang).roles
        if role not in roles:
            roles[role] = self._new_cohort()
        return roles[role]

    def subgang_row(self, gang: int, fact: GangFact, task: TaskFact) -> int:
        """The cohort row of the sub-gang that a member falls into, made if it is new."""
        subgang, subgangs = subgang_of(fact, task), self._cohorts_of(gang).subgangs
        if subgang not in subgangs:
            subgangs[subgang] = self._new_cohort()
        return subgangs[subgang]

    def roles(self, gang: int) -> dict[str, int]:
        """Role names and their cohort rows."""
        cohorts = self._cohorts.get(gang)
        return cohorts.roles if cohorts else {}

    def subgangs(self, gang: int) -> dict[SubGang, int]:
        """Sub-gangs and their cohort rows, those included whose members all left."""
        cohorts = self._cohorts.get(gang)
        return cohorts.subgangs if cohorts else {}

    def forget_cohorts(self, gang: int) -> None:
        """Give back a gang's cohort rows. No task may be counted in them."""
        cohorts = self._cohorts.pop(gang, None)
        if cohorts:
            self._free.extend([*cohorts.roles.values(), *cohorts.subgangs.values()])

    def _cohorts_of(self, gang: int) -> Cohorts:
        return self._cohorts.setdefault(gang, Cohorts({}, {}))

    def _new_cohort(self) -> int:
        if self._free:
            return self._free.pop()
        self.cohort_rows += 1
        return self.cohort_rows - 1

    def fork(self) -> "Membership":
        """An independent copy. It finds out anew who stands in which order, and only of whom it is asked."""
        other = Membership()
        for gang in list(self._moves):
            self.of(gang)
        other._members, other._sizes = list(self._members), list(self._sizes)
        other._cohorts = {gang: Cohorts(dict(c.roles), dict(c.subgangs)) for gang, c in self._cohorts.items()}
        other._free, other.cohort_rows = list(self._free), self.cohort_rows
        return other
