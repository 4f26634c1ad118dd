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
Rows = NDArray[np.intp]

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
"""A gate that only waits for the queue: it opens by being placed, so a pod with no other one is not left out."""


def outstanding(world: World, *, whole: bool = False) -> tuple[Rows, Amounts]:
    """The gangs that were admitted for something, and what each of them has not got yet [gangs, D].

    `whole`: what a gang has got counts as well, until it runs.
    """
    count = len(world.gangs)
    ledger, traits = world.columns.ledger, world.columns.traits
    states = np.flatnonzero(traits.gang_has_min_resources[:count] & _has_queue(world, count))
    minimum, phases = traits.gang_min_resources[states], traits.gang_phase[states]
    has = ledger.gang_allocated[states] + ledger.gang_promised[states]
    placed = ledger.gang_count[states][:, list(ALLOCATED_STATES)].sum(axis=1)
    admitted = phases == GangPhase.INQUEUE
    running = (phases == GangPhase.RUNNING) & (placed >= traits.gang_min[states])
    left: Amounts = np.maximum(minimum - has, 0)
    if whole:
        left[admitted] = minimum[admitted]
    left[~(admitted | running)] = 0
    return states, _without_gated(world, states, left)


def total(of_gangs: tuple[Rows, Amounts]) -> Amounts:
    """[D] amounts of gangs, added up."""
    added: Amounts = of_gangs[1].sum(axis=0)
    return added


def used_of_minimum(world: World) -> tuple[Rows, Amounts]:
    """The gangs that state minimal resources, and how much of these each of them has [gangs, D]."""
    count, ledger = len(world.gangs), world.columns.ledger
    states = np.flatnonzero(world.columns.traits.gang_has_min_resources[:count])
    has = ledger.gang_allocated[states] + ledger.gang_promised[states]
    used: Amounts = np.minimum(has, world.columns.traits.gang_min_resources[states])
    return states, used


def admitted_for(gang: Gang) -> Amounts:
    """[D] what a gang will be outstanding for once it is admitted."""
    minimum: Amounts = gang.world.columns.traits.gang_min_resources[gang.row]
    members = gang.world.ordered_members(gang.row) if gang.counts[Status.GATED] else np.empty(0, np.int32)
    gated = _requests_of_gated(gang.world, members)
    return np.maximum(minimum - gated, 0) if _is_something(gated) else minimum


def all_admitted_for(world: World, gangs: Rows) -> Amounts:
    """[gangs, D] the same for many gangs at once."""
    columns = world.columns
    minimums = columns.traits.gang_min_resources[gangs] * columns.traits.gang_has_min_resources[gangs, None]
    for at in np.flatnonzero(columns.ledger.gang_count[gangs, Status.GATED]).tolist():
        minimums[at] = admitted_for(Gang(world, int(gangs[at]))) * columns.traits.gang_has_min_resources[gangs[at]]
    return minimums


def by_queue(world: World, gangs: Rows, amounts: Amounts) -> Amounts:
    """[Q, D] amounts of gangs, added up by their queues."""
    sums = np.zeros((len(world.queues), len(world.dimensions)), np.int64)
    np.add.at(sums, world.columns.ledger.gang_queue[gangs], amounts)
    return sums


def _has_queue(world: World, count: int) -> NDArray[np.bool_]:
    """[G] whether each gang's queue exists: nobody is admitted to one that does not."""
    declared = np.array([fact is not None for fact in world.queues.facts], np.bool_)
    has: NDArray[np.bool_] = declared[world.columns.ledger.gang_queue[:count]]
    return has


def _without_gated(world: World, gangs: Rows, left: Amounts) -> Amounts:
    gated = world.columns.ledger.gang_count[gangs, Status.GATED] > 0
    for at in np.flatnonzero(gated).tolist():
        asked = _requests_of_gated(world, world.ordered_members(int(gangs[at])))
        if _is_something(asked):
            left[at] = np.maximum(left[at] - asked, 0)
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
