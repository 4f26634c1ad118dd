"""Repairs: a gang of which members are bound gets its minimum soon, or lets go of them.

    first bind ──▶ effort ──▶ minimum known to be bound: over
                     │  ▲
                     │  └── a member was refused: placed again at once, the next time after a rest
                     ▼ no minimum within the repair time
                  bound members are evicted (or kept, by policy), and the gang rests

So neither half a gang nor one whose binds are always refused holds the cluster. A rest begins at a second and doubles
up to a minute. A gang that has had its minimum is no matter for repair, whatever it loses later.

After a restart nobody knows when a gang began. Who wants half-bound gangs found (`heals`) has the clock of those that
never had their minimum, by their phase, begin when they are first seen.
"""

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from posse.cluster.efforts import NEVER, Effort
from posse.cluster.records import Bind
from posse.cluster.status import SCHEDULED_STATES, Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.arguments import Argument, Arguments
from posse.scheduler.session import Session

NANOSECONDS = 1_000_000_000

ARGUMENTS = (
    Argument("time", "duration", "10s", minimum=0, help="How long a gang may be bound in part before it lets go."),
    Argument(
        "policy",
        "str",
        "release",
        choices=("release", "keep"),
        help="Whether the bound members of a gang that does not get its minimum are evicted, or stay.",
    ),
    Argument("rest", "duration", "1s", minimum=0, help="How long a gang rests after its second failure; then doubled."),
    Argument("longest-rest", "duration", "60s", minimum=0, help="How long a gang rests at the most."),
)
"""What the entry `repair` of `configurations` may say."""

HAS_ROOM = [Status.BOUND, Status.RUNNING]
"""Statuses in which a member can be let go."""


class Repairs:
    """Follows the efforts of one world, by the rules of one configuration."""

    def __init__(self, world: World, arguments: Arguments, *, heals: bool) -> None:
        self._world, self._heals = world, heals
        self._patience = arguments.get_duration("time")
        self._releases = arguments.get_str("policy") == "release"
        self._rest, self._longest = arguments.get_duration("rest"), arguments.get_duration("longest-rest")
        self._failed: dict[int, str] = {}
        """Gangs of which a bind was refused since the last cycle, and why."""

    def refused(self, gang: int, reason: str) -> None:
        """Learn that a bind of a gang was refused."""
        self._failed.setdefault(gang, reason)

    # ------------------------------------------------------------------ a cycle

    def open(self, session: Session) -> None:
        """End efforts that are over, let gangs rest that failed, and let go of those that are overdue."""
        efforts, now = self._world.efforts, session.now
        declared = self._world.columns.traits.gang_declared
        for gang, reason in self._failed.items():
            if declared[gang]:  # else it has been deleted in the meantime
                efforts[gang] = self._failure(efforts.get(gang, Effort()), now, reason)
        self._failed.clear()
        if self._heals:
            self._find_half_bound(session)
        for gang in self._over(session):
            del efforts[gang]
        for gang, effort in list(efforts.items()):
            if effort.since != NEVER and self._is_preparing(gang):
                efforts[gang] = structs.replace(effort, since=now)
            if not self._is_undecided(gang):
                continue
            if effort.since == NEVER:  # bound too late, or not evicted when it should have been
                efforts[gang] = structs.replace(effort, since=now)
            elif now >= effort.since + self._patience:
                self._let_go(session, Gang(self._world, gang), effort)
        for gang, effort in efforts.items():
            if now < effort.rests_until:
                session.rest(Gang(self._world, gang), _rest_of(effort))

    def close(self, session: Session) -> None:
        """Begin an effort for each gang of which a first member is bound; wake those that have rested."""
        efforts, world = self._world.efforts, self._world
        for gang in {effect.gang for effect in session.effects if isinstance(effect, Bind)}:
            row = world.gangs.find(gang)
            effort = efforts.get(row, Effort())
            if effort.since == NEVER and not world.columns.traits.gang_started[row]:
                efforts[row] = structs.replace(effort, since=session.now)
        for row, effort in efforts.items():
            if effort.rests_until != NEVER and session.now >= effort.rests_until:
                efforts[row] = structs.replace(effort, rests_until=NEVER)

    def next_due(self) -> int | None:
        """When something will have to be done though nothing else has changed."""
        due = [effort.rests_until for effort in self._world.efforts.values() if effort.rests_until != NEVER]
        due += [
            effort.since + self._patience
            for gang, effort in self._world.efforts.items()
            if effort.since != NEVER and self._is_undecided(gang)
        ]
        return min(due, default=None)

    # ------------------------------------------------------------------ who is concerned

    def _failure(self, effort: Effort, now: int, reason: str) -> Effort:
        """An effort that failed once more. The first failure costs no time: another node may do."""
        rest = min(self._longest, self._rest << min(effort.failures - 1, 32)) if effort.failures else 0
        return Effort(effort.since, effort.failures + 1, now + rest if rest else NEVER, reason)

    def _scheduled(self, gangs: NDArray[np.intp]) -> NDArray[np.int64]:
        """How many members of each gang are known to be bound."""
        count: NDArray[np.int64] = self._world.columns.ledger.gang_count[gangs][:, SCHEDULED_STATES].sum(axis=1)
        return count

    def _over(self, session: Session) -> list[int]:
        """Efforts that came to their end: what the gang needs is known to be bound."""
        world, rows = self._world, np.array(list(self._world.efforts), np.intp)
        if not len(rows):
            return []
        traits = world.columns.traits
        has = traits.gang_started[rows] | (self._scheduled(rows) >= np.maximum(traits.gang_min[rows], 1))
        settled = world.columns.ledger.gang_count[rows, Status.BINDING] == 0
        ready = [row for row in rows[~has & settled].tolist() if session.tiers.gang_ready(Gang(world, row))]
        return [*rows[has].tolist(), *ready]

    def _is_undecided(self, gang: int) -> bool:
        """Whether a gang has bound members and no bind of it is under way."""
        counts = self._world.columns.ledger.gang_count[gang]
        return bool(counts[HAS_ROOM].any()) and not counts[Status.BINDING]

    def _is_preparing(self, gang: int) -> bool:
        """Whether a gang has no bound member yet and all is under way: its volumes may take longer than a repair."""
        counts = self._world.columns.ledger.gang_count[gang]
        return bool(counts[Status.BINDING]) and not counts[HAS_ROOM].any()

    def _find_half_bound(self, session: Session) -> None:
        """Begin an effort for gangs that are bound in part, and of which nobody knows when they began."""
        world, count = self._world, len(self._world.gangs)
        traits, counts = world.columns.traits, world.columns.ledger.gang_count[:count]
        half = traits.gang_declared[:count] & ~traits.gang_started[:count] & counts[:, HAS_ROOM].any(axis=1)
        half &= counts[:, SCHEDULED_STATES].sum(axis=1) < traits.gang_min[:count]
        for row in np.flatnonzero(half).tolist():
            effort = world.efforts.get(row, Effort())
            if effort.since == NEVER and not session.tiers.gang_ready(Gang(world, row)):
                world.efforts[row] = structs.replace(effort, since=session.now)

    # ------------------------------------------------------------------ letting go

    def _let_go(self, session: Session, gang: Gang, effort: Effort) -> None:
        seconds = self._patience / NANOSECONDS
        reason = effort.reason or "its other members found no node"
        message = f"not bound as a whole within {seconds:g}s: {reason}"
        failed = self._failure(effort, session.now, message)
        if not self._releases:
            self._world.efforts[gang.row] = structs.replace(failed, since=session.now)
            return
        self._world.efforts[gang.row] = structs.replace(failed, since=NEVER)
        ledger = self._world.columns.ledger
        members = self._world.ordered_members(gang.row)
        bound = members[np.isin(ledger.task_status[members], HAS_ROOM)]
        statement = session.statement()
        statement.evict(bound)
        statement.commit()
        for row in bound.tolist():
            session.evicted(Task(self._world, row), gang, "repair", message)


def _rest_of(effort: Effort) -> Blocker:
    message = f"rests after {effort.failures} failures, the last: {effort.reason}"
    return Blocker(kind="plugin", plugin="repair", reason="BackOff", message=message)
