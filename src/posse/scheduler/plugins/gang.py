"""Gang: all or nothing.

    valid       enough members that could still run: of each role, of sub-gangs, of the gang
    ready       the minimum has nodes, of each role, of sub-gangs, of the gang; only then is anything bound
    pipelined   the minimum has nodes or is promised some
    starving    even with what is promised the minimum is not met; roles are not asked
    order       ready gangs first: finish what is begun (`gang.order: unready-first` turns it around); then those of
                which members run
    victims     only members beyond their gang's minimum may go, unless gangs are evicted as gangs

Best-effort members that still wait count as if they had a node: they will find one. The plugin keeps nothing from cycle
to cycle.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import PROMISED_STATES, READY_STATES, Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Cohort, Division, Gang, Task, Team
from posse.scheduler.arguments import Argument
from posse.scheduler.metrics.series import Series, gang_labels, series
from posse.scheduler.metrics.tally import Tally, is_short
from posse.scheduler.plugin import THE_WORLD, Key, Plugin, Rows, Setup, Shortfalls, Vote

READY_FIRST, UNREADY_FIRST = "ready-first", "unready-first"


UNDECIDED = (Status.GATED, *PROMISED_STATES)
"""Neither waits to be placed nor has a node."""


class GangPlugin(Plugin):
    """Bind a gang's minimum together or not at all."""

    name: ClassVar[str] = "gang"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    gang_order_is_own = True
    protects: ClassVar[bool] = True
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument(
            "gang.order",
            "str",
            READY_FIRST,
            choices=(READY_FIRST, UNREADY_FIRST),
            switch="gang-order",
            upstream=UNREADY_FIRST,
            help="Which goes first: a gang that has its minimum, or one that still needs it.",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._first = setup.arguments.get_str("gang.order") == READY_FIRST
        keeps = setup.compatibility.side("running-gang-admission") == "posse"
        self._order = self._begun_before_fresh if keeps else self._by_readiness

    # ------------------------------------------------------------------ valid

    def gang_valid(self, gang: Gang) -> Blocker | None:
        """Refuse a gang with too few members that could still run."""
        return self._roles_valid(gang) or self._subgangs_valid(gang) or self._members_valid(gang)

    def _roles_valid(self, gang: Gang) -> Blocker | None:
        if not gang.fact.min_roles or not gang.roles_count:
            return None
        for name, role in gang.roles.items():
            if role.valid_count < role.minimum:
                message = f"role {name} has {_counted(role.valid_count, 'valid pod')} and needs {role.minimum}"
                return self._invalid("NotEnoughTasks", message, role.valid_count, role.minimum)
        return None

    def _subgangs_valid(self, gang: Gang) -> Blocker | None:
        if not gang.fact.subgroups:
            return None
        groups = Counter(division.subgang.policy for division in gang.subgangs)
        for policy in gang.fact.subgroups:
            if groups[policy.name] < policy.min_groups:
                have, need = groups[policy.name], policy.min_groups
                message = f"policy {policy.name} has {_counted(have, 'sub-gang')} and needs {need}"
                return self._invalid("NotEnoughTasks", message, have, need)
        return None

    def _members_valid(self, gang: Gang) -> Blocker | None:
        valid, minimum = gang.valid_count, gang.minimum
        if valid >= minimum:
            return None
        gated = gang.counts[Status.GATED]
        if valid + gated >= minimum:
            waits = f"{gated} of {gang.size} pods wait for a scheduling gate to be lifted"
            message = f"{waits}, {valid} are free and {minimum} are needed"
            return Blocker(
                kind="gates",
                plugin=self.name,
                reason="SchedulingGated",
                message=message,
                have=valid,
                need=minimum,
                unit="pods",
            )
        message = f"the gang has {_counted(valid, 'valid pod')} and needs {minimum}"
        return self._invalid("NotEnoughPods", message, valid, minimum)

    def _invalid(self, reason: str, message: str, have: int, need: int) -> Blocker:
        return Blocker(
            kind="validity", plugin=self.name, reason=reason, message=message, have=have, need=need, unit="pods"
        )

    # ------------------------------------------------------------------ ready, pipelined, starving

    def gang_ready(self, gang: Gang) -> bool:
        """Have the minimum, of every kind, on nodes."""
        return (
            gang.is_ready
            and self._roles_have(gang, with_promises=False)
            and self._groups_have(gang, with_promises=False)
        )

    def missing(self, gang: Gang) -> int:
        """Count what is short of the gang's own minimum."""
        return max(1, gang.minimum - gang.ready_count - gang.pending_best_effort)

    def shortfalls(self, gangs: Rows) -> Shortfalls | None:
        """Count what is short of the gangs' own minimums.

        That suffices where no roles or sub-gangs have any, and where everybody is needed: then no role lacks anybody.
        """
        ledger, traits = self.world.columns.ledger, self.world.columns.traits
        least: NDArray[np.int64] = np.maximum(self._minimums(gangs) - self._ready(gangs), 0)
        others = ledger.gang_count[gangs][:, UNDECIDED].sum(axis=1) + ledger.gang_best_effort[gangs]
        takes_all = (least == ledger.gang_count[gangs, Status.PENDING]) & (others == 0)
        return Shortfalls(least, ~traits.gang_parted[gangs] | (takes_all & ~traits.gang_divided[gangs]))

    def subgang_ready(self, division: Division) -> bool:
        """Have a sub-gang's minimum on nodes."""
        return division.is_ready

    def gang_pipelined(self, gang: Gang) -> Vote:
        """Have the minimum, of every kind, on nodes or promised."""
        pipelined = gang.is_pipelined and self._roles_have(gang, with_promises=True)
        return _vote(pipelined and self._groups_have(gang, with_promises=True))

    def subgang_pipelined(self, division: Division) -> Vote:
        """Have a sub-gang's minimum on nodes or promised."""
        return _vote(division.is_pipelined)

    def gang_starving(self, gang: Gang) -> bool:
        """Lack the minimum even if all promises were kept."""
        return gang.is_starving

    def _roles_have(self, gang: Gang, *, with_promises: bool) -> bool:
        if not gang.fact.min_roles or not gang.roles_count:
            return True
        return all(_has_minimum(role, with_promises=with_promises) for role in gang.roles.values())

    def _groups_have(self, gang: Gang, *, with_promises: bool) -> bool:
        if not gang.fact.subgroups:
            return True
        groups = Counter(d.subgang.policy for d in gang.subgangs if _has_minimum(d, with_promises=with_promises))
        return all(groups[policy.name] >= policy.min_groups for policy in gang.fact.subgroups)

    # ------------------------------------------------------------------ order

    def gang_order(self, gang: Gang) -> Key:
        """Put ready gangs first, or last."""
        return self._order(gang)

    def gang_orders(self, gangs: Rows) -> Sequence[Key] | NDArray[np.generic]:
        """Say the same for many gangs at once."""
        is_ready = self._ready(gangs) >= self._minimums(gangs)
        last: NDArray[np.bool_] = is_ready != self._first
        if self._order == self._by_readiness:
            return last
        fresh = self.world.columns.ledger.gang_count[gangs, Status.RUNNING] == 0
        return list(zip(last.tolist(), fresh.tolist(), strict=True))

    def _minimums(self, gangs: Rows) -> NDArray[np.int64]:
        return self.world.columns.traits.gang_min[gangs]

    def _ready(self, gangs: Rows) -> NDArray[np.int64]:
        """How many members of each gang count as ready."""
        ledger = self.world.columns.ledger
        ready: NDArray[np.int64] = ledger.gang_best_effort[gangs]
        for status in READY_STATES:
            ready = ready + ledger.gang_count[gangs, status]
        return ready

    def _by_readiness(self, gang: Gang) -> Key:
        return gang.is_ready is not self._first

    def _begun_before_fresh(self, gang: Gang) -> Key:
        """Among gangs that are not ready, those of which members run are being repaired: they go before those who have
        not begun.
        """
        return (gang.is_ready is not self._first, not gang.counts[Status.RUNNING])

    def subgang_order(self, division: Division) -> Key:
        """Put ready sub-gangs first, or last."""
        return division.is_ready is not self._first

    # ------------------------------------------------------------------ victims

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Give up members beyond their gang's minimum, first come first."""
        return self._surplus(candidates)

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Give up members beyond their gang's minimum, first come first."""
        return self._surplus(candidates)

    def evictable(self, for_gang: Gang, candidates: Sequence[Task], *, across_queues: bool) -> Sequence[Task] | None:
        """Let whole gangs go: who evicts gangs as gangs minds their minimum himself."""
        return candidates

    def _surplus(self, candidates: Sequence[Task]) -> Sequence[Task]:
        remaining: dict[int, int] = {}
        victims = []
        for task in candidates:
            gang = task.gang
            if gang is None or not gang.is_declared:
                continue
            if remaining.setdefault(gang.row, gang.ready_count) > gang.minimum:
                remaining[gang.row] -= 1
                victims.append(task)
        return victims

    # ------------------------------------------------------------------ figures

    def figures(self, tally: Tally) -> Iterator[Series]:
        """Give how many gangs lack their minimum, how many members each lacks, and how often it was tried in vain."""
        short = 0
        for each in tally.gangs(self.world):
            if not each.verdict.members:
                continue
            lacks, labels = is_short(each.verdict), gang_labels(self.world, each.gang)
            short += lacks
            yield series("volcano_unschedule_task_count", each.verdict.unschedulable if lacks else 0, **labels)
            if each.retries:
                yield series("volcano_job_retry_counts", each.retries, **labels)
        yield series("volcano_unschedule_job_count", short)


def _has_minimum(team: Team | Cohort, *, with_promises: bool) -> bool:
    return team.is_pipelined if with_promises else team.is_ready


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _vote(agrees: bool) -> Vote:
    return Vote.PERMIT if agrees else Vote.REJECT
