"""Counting: how many members of a gang the nodes could hold at the most, with nobody ahead of it.

Every node is counted by itself, by the least that any of the members asks for, and what is promised to others counts as
free. So it may be more than will ever be placed, never less: what is not enough by counting need not be tried.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.cluster.views import Gang
from posse.cluster.world import World
from posse.scheduler.placement.feasibility import Feasibility, asked
from posse.scheduler.reasons import PASSES


def open_places(gang: Gang) -> int:
    """How many more members must have a node for the minimum."""
    return max(1, gang.minimum - gang.ready_count - gang.waiting_count)


def placeable(gang: Gang) -> list[int]:
    """The members that could be given a node."""
    return [task.row for task in gang.members if task.status is Status.PENDING]


def held(world: World, feasibility: Feasibility, members: list[int]) -> NDArray[np.int64]:
    """[N] how many of some members, one at the least, each node could hold at the most."""
    ledger = world.columns.ledger
    shapes = np.unique(ledger.task_shape[members]).tolist()
    suits = np.logical_or.reduce([feasibility.fixed(shape) == PASSES for shape in shapes])
    least = ledger.shape_request[shapes].min(axis=0)
    room = feasibility.idle() + ledger.node_releasing[:, : len(world.nodes)]
    wanted = np.flatnonzero(least)
    count = (room[wanted] // least[wanted, None]).min(axis=0, initial=len(members))
    return np.where(suits, np.maximum(count, 0), 0)


def taking(world: World, feasibility: Feasibility, shape: int) -> NDArray[np.bool_]:
    """[N] the nodes that would take a task of a shape by what they are and have, whoever else is there."""
    request, room = world.columns.ledger.shape_request[shape], feasibility.room(shape)
    wanted = asked(request)
    fits: NDArray[np.bool_] = np.all(room[wanted] >= request[wanted, None], axis=0)
    suits: NDArray[np.bool_] = feasibility.fixed(shape) == PASSES
    return suits & fits
