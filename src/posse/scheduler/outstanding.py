"""Outstanding: what gangs were admitted for and have not got yet.

Admission is a promise of a gang's minimal resources. What of it is not in use is outstanding, and who admits further
gangs must count it. Of a gang that was just admitted that is whatever it has not got; of a running one too, as long
as it has its minimum of members (a job whose driver has ended is not waited for). What gated members will ask for is
left out: they ask once their gates are lifted, and must not keep others out until then.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import PODS
from posse.cluster.phases import GangPhase
from posse.cluster.status import ALLOCATED_STATES, Status
from posse.cluster.views import Gang
from posse.cluster.world import World

Amounts = NDArray[np.int64]

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
"""A gate that only waits for the queue: it opens by being placed, so a pod with no other one is not left out."""


def outstanding(world: World, *, whole: bool = False) -> Amounts:
    """[G, D] what each gang was admitted for and has not got; `whole`: what it has got as well, until it runs."""
    count = len(world.gangs)
    ledger, traits = world.columns.ledger, world.columns.traits
    minimum, phases = traits.gang_min_resources[:count], traits.gang_phase[:count]
    has = ledger.gang_allocated[:count] + ledger.gang_promised[:count]
    placed = ledger.gang_count[:count, list(ALLOCATED_STATES)].sum(axis=1)
    admitted = phases == GangPhase.INQUEUE
    running = (phases == GangPhase.RUNNING) & (placed >= traits.gang_min[:count])
    left: Amounts = np.maximum(minimum - has, 0)
    if whole:
        left[admitted] = minimum[admitted]
    left[~(admitted | running) | ~_has_queue(world, count)] = 0
    return _without_gated(world, left)


def admitted_for(gang: Gang) -> Amounts:
    """[D] what a gang will be outstanding for once it is admitted."""
    minimum: Amounts = gang.world.columns.traits.gang_min_resources[gang.row]
    members = gang.world.ordered_members(gang.row) if gang.counts[Status.GATED] else np.empty(0, np.int32)
    gated = _requests_of_gated(gang.world, members)
    return np.maximum(minimum - gated, 0) if _is_something(gated) else minimum


def all_admitted_for(world: World, gangs: NDArray[np.intp]) -> Amounts:
    """[gangs, D] the same for many gangs at once."""
    columns = world.columns
    minimums = columns.traits.gang_min_resources[gangs] * columns.traits.gang_has_min_resources[gangs, None]
    for at in np.flatnonzero(columns.ledger.gang_count[gangs, Status.GATED]).tolist():
        minimums[at] = admitted_for(Gang(world, int(gangs[at]))) * columns.traits.gang_has_min_resources[gangs[at]]
    return minimums


def by_queue(world: World, amounts: Amounts) -> Amounts:
    """[Q, D] amounts of gangs, added up by their queues."""
    queues = world.columns.ledger.gang_queue[: len(amounts)]
    sums = np.zeros((len(world.queues), amounts.shape[1]), np.int64)
    some = np.flatnonzero(amounts.any(axis=1))
    np.add.at(sums, queues[some], amounts[some])
    return sums


def _has_queue(world: World, count: int) -> NDArray[np.bool_]:
    """[G] whether each gang's queue exists: nobody is admitted to one that does not."""
    declared = np.array([fact is not None for fact in world.queues.facts], np.bool_)
    has: NDArray[np.bool_] = declared[world.columns.ledger.gang_queue[:count]]
    return has


def _without_gated(world: World, left: Amounts) -> Amounts:
    gated = world.columns.ledger.gang_count[: len(left), Status.GATED] > 0
    for row in np.flatnonzero(gated & left.any(axis=1)).tolist():
        asked = _requests_of_gated(world, world.ordered_members(row))
        if _is_something(asked):
            left[row] = np.maximum(left[row] - asked, 0)
    return left


def _requests_of_gated(world: World, members: NDArray[np.int32]) -> Amounts:
    """[D] what those of these tasks ask for that wait for a gate that is not the queue's."""
    ledger, facts = world.columns.ledger, world.tasks.facts
    gated = members[ledger.task_status[members] == Status.GATED].tolist()
    waiting = [row for row in gated if (fact := facts[row]) is not None and fact.gates != (QUEUE_GATE,)]
    total: Amounts = ledger.shape_request[ledger.task_shape[waiting]].sum(axis=0)
    return total


def _is_something(amounts: Amounts) -> bool:
    return bool(np.delete(amounts, PODS).any())
