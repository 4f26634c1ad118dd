"""What a task contributes in each status, and that moving it back leaves nothing behind."""

import numpy as np
import pytest

from posse.cluster.portrait import portrait
from posse.cluster.recount import wrong_sums
from posse.cluster.status import ALLOCATED_STATES, Status
from posse.cluster.world import World
from tests.builders import amounts, gang, node, queue, task, the_task

SOME = amounts(cpu=1, memory=2, pods=1)
NOTHING = amounts()


def a_world() -> World:
    world = World()
    world.observe([queue("default"), node("n1"), node("n2"), gang("g"), task("p", "g", memory=2), task("q", "g")])
    return world


def moved(status: Status) -> World:
    world = a_world()
    nowhere = status in (Status.PENDING, Status.GATED)
    world.move([the_task(world, "p").row], [status], [-1 if nowhere else world.nodes.find("n1")])
    return world


def node_sums(world: World) -> tuple[object, object, object]:
    """Used, being freed and promised on n1."""
    ledger, row = world.columns.ledger, world.nodes.find("n1")
    return tuple(
        world.amounts(each[:, row]) for each in (ledger.node_used, ledger.node_releasing, ledger.node_pipelined)
    )


@pytest.mark.parametrize("status", [*ALLOCATED_STATES, Status.HELD])
def test_who_has_a_node_takes_room_on_it(status: Status) -> None:
    assert node_sums(moved(status)) == (SOME, NOTHING, NOTHING)


def test_who_leaves_takes_room_that_will_be_free() -> None:
    assert node_sums(moved(Status.RELEASING)) == (SOME, SOME, NOTHING)


def test_who_is_promised_a_node_takes_none_yet() -> None:
    assert node_sums(moved(Status.PIPELINED)) == (NOTHING, NOTHING, SOME)


@pytest.mark.parametrize("status", [Status.PENDING, Status.GATED, Status.SUCCEEDED, Status.FAILED])
def test_who_waits_or_has_ended_takes_none(status: Status) -> None:
    assert node_sums(moved(status)) == (NOTHING, NOTHING, NOTHING)


@pytest.mark.parametrize(
    ("status", "allocated", "promised"),
    [
        *((status, SOME, NOTHING) for status in ALLOCATED_STATES),
        (Status.PIPELINED, NOTHING, SOME),
        (Status.HELD, NOTHING, SOME),
        (Status.RELEASING, NOTHING, NOTHING),
        (Status.SUCCEEDED, NOTHING, NOTHING),
    ],
)
def test_what_a_status_is_charged_to_its_queue_for(status: Status, allocated: object, promised: object) -> None:
    world = moved(status)
    ledger, row = world.columns.ledger, world.queues.find("default")

    assert (world.amounts(ledger.queue_allocated[row]), world.amounts(ledger.queue_promised[row])) == (
        allocated,
        promised,
    )


def test_scores_see_who_is_there_and_who_is_promised() -> None:
    for status in (Status.RUNNING, Status.RELEASING, Status.PIPELINED):
        world = moved(status)
        assert world.columns.ledger.node_scored[:, world.nodes.find("n1")].tolist() == [1000, 2 << 30]


def test_a_move_and_its_way_back_leave_nothing_behind() -> None:
    world = a_world()
    before, rows = portrait(world), [the_task(world, name).row for name in ("p", "q")]
    nodes = [world.nodes.find(name) for name in ("n1", "n2")]
    for status in (Status.ALLOCATED, Status.PIPELINED, Status.BINDING, Status.RELEASING):
        world.move(rows, [status] * 2, nodes)
        assert list(wrong_sums(world)) == []

    world.move(rows, [Status.PENDING] * 2, [-1, -1])

    assert portrait(world) == before


def test_confirming_is_moving_to_a_status_that_takes_the_same_room() -> None:
    confirmed, plainly_moved = moved(Status.ALLOCATED), moved(Status.BINDING)
    seen = confirmed.columns.ledger.log_ends.copy()
    confirmed.confirm(np.array([the_task(confirmed, "p").row], np.int32), Status.BINDING)

    assert portrait(confirmed) == portrait(plainly_moved)
    assert (confirmed.columns.ledger.log_ends - seen).tolist() == [0, 0]


def test_whoever_follows_the_logs_hears_of_every_move() -> None:
    world = a_world()
    seen = world.columns.ledger.log_ends.copy()
    world.move([the_task(world, "p").row], [Status.ALLOCATED], [world.nodes.find("n1")])

    ledger = world.columns.ledger
    assert ledger.node_log[seen[0] : ledger.log_ends[0]].tolist() == [world.nodes.find("n1")]
    assert ledger.gang_touched[world.gangs.find("default/g")] == ledger.moment[0]
    assert ledger.pod_log[seen[1] : ledger.log_ends[1], 3].tolist() == [1]
