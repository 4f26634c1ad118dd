"""What plugins say of many at once is what they say of each.

Orders, shortfalls, admission and the room of queues are asked for one subject and for many; decisions take whichever is
cheaper, so the two must never differ. Here both are asked in clusters that have lived for a while.
"""

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.phases import GangPhase
from posse.cluster.status import Status
from posse.cluster.views import Gang, Queue, Task
from posse.scheduler.engine import Engine
from posse.scheduler.outstanding import admitted_for, all_admitted_for
from posse.scheduler.session import Session
from tests.builders import conf
from tests.properties.effort import tried
from tests.properties.lives import Life, usual_conf
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds

CONFS = {
    "usual": usual_conf(),
    "unready first": conf(
        [{"name": "gang", "arguments": {"gang.order": "unready-first"}}],
        "drf overcommit proportion predicates",
        actions="enqueue, allocate, backfill",
    ),
    "in one tier": conf("proportion gang priority overcommit", actions="enqueue, allocate"),
    "without the gang plugin": conf("priority drf", "predicates", actions="allocate"),
}
confs, modes = st.sampled_from(sorted(CONFS)), st.sampled_from(("posse", "upstream"))
lives = st.builds(
    lambda seed, name, mode, cycles: lived(Life(random_world(seed), seed, CONFS[name], mode), cycles),
    seeds,
    confs,
    modes,
    st.integers(0, 2),
)


def lived(life: Life, cycles: int) -> Life:
    for _ in range(cycles):
        life.cycle()
    return life


def opened(running: Engine) -> tuple[Session, np.ndarray]:
    """A cycle that begins, and all gangs that take part in it."""
    session = running.open(0)
    for plugin in running.tiers.plugins:
        plugin.on_open(session)
    return session, session.gang_rows(GangPhase)


def each(running: Engine, rows: np.ndarray) -> Iterator[Gang]:
    return (Gang(running.world, row) for row in rows.tolist())


@tried(60)
@given(life=lives)
def test_gangs_and_tasks_are_put_in_the_same_order(life: Life) -> None:
    running = life.engine
    session, gangs = opened(running)
    assert running.tiers.gang_keys(gangs) == [running.tiers.gang_key(gang) for gang in each(running, gangs)]

    orderers = [plugin for plugin in running.tiers.plugins if plugin.overrides("task_order")]
    for gang in each(running, gangs):
        members = [task for task in gang.members if task.status is Status.PENDING]
        for kind in (True, False):
            mine = [task for task in members if task.is_best_effort is kind]
            mine.sort(key=lambda task: [plugin.task_order(task) for plugin in orderers])
            assert session.pending(gang, best_effort=kind).tolist() == [task.row for task in mine]


@tried(80)
@given(life=lives, data=st.data())
def test_fewer_members_than_a_gang_lacks_never_make_it_ready_and_so_many_do(life: Life, data: st.DataObject) -> None:
    running, world = life.engine, life.engine.world
    session, gangs = opened(running)
    short = running.tiers.shortfalls(gangs)
    for gang, least, suffice in zip(each(running, gangs), short.least.tolist(), short.suffice.tolist(), strict=True):
        waiting = session.pending(gang, best_effort=False)
        some = data.draw(st.lists(st.sampled_from(waiting.tolist()), unique=True)) if len(waiting) else []
        if world.nodes.declared():
            world.move(some, [Status.ALLOCATED] * len(some), [world.nodes.declared()[0]] * len(some))
            assert running.tiers.gang_ready(gang) <= (len(some) >= least)
            assert running.tiers.gang_ready(gang) or not suffice or len(some) < least
        assert running.tiers.missing(gang) == max(1, least - len(some)) or not suffice


@tried(60)
@given(life=lives)
def test_the_same_gangs_would_be_admitted(life: Life) -> None:
    running = life.engine
    _, gangs = opened(running)
    found = running.tiers.enqueueable(gangs)
    if found is not None:
        alone = [running.tiers.gang_not_enqueueable(gang) is None for gang in each(running, gangs)]
        assert found.tolist() == alone


@tried(60)
@given(life=lives, data=st.data())
def test_who_is_admitted_together_would_be_one_by_one_and_is_charged_the_same(life: Life, data: st.DataObject) -> None:
    running, together = life.engine, life.engine.fork()
    _, gangs = opened(running)
    opened(together)
    some = np.array(data.draw(st.lists(st.sampled_from(gangs.tolist()), unique=True)) if len(gangs) else [], np.intp)
    all_fit, one_by_one = running.tiers.all_enqueueable(some), []
    for row in some.tolist():
        one_by_one.append(running.tiers.gang_not_enqueueable(Gang(running.world, row)) is None)
        running.tiers.gangs_enqueued(np.array([row]))
    together.tiers.gangs_enqueued(some)

    assert all(one_by_one) or not all_fit
    left = [running.tiers.enqueueable(gangs), together.tiers.enqueueable(gangs)]
    assert (left[0] is None and left[1] is None) or np.array_equal(left[0], left[1])
    charged = all_admitted_for(running.world, gangs)
    for gang, amounts in zip(each(running, gangs), charged.tolist(), strict=True):
        states = gang.fact.min_resources is not None
        assert amounts == (admitted_for(gang).tolist() if states else [0] * len(amounts))


@tried(60)
@given(life=lives)
def test_queues_refuse_the_tasks_that_ask_for_more_than_their_room(life: Life) -> None:
    running, world = life.engine, life.engine.world
    opened(running)
    ledger = world.columns.ledger
    for row in world.tasks.declared():
        task = Task(world, row)
        if task.status is not Status.PENDING or task.gang is None or not task.gang.queue.is_declared:
            continue
        queue: Queue = task.gang.queue
        request = ledger.shape_request[task.shape_row]
        room = running.tiers.queue_room(queue, len(request))
        assert room is not None
        refused = bool(((request > 0) & (request > room)).any())
        assert refused is (running.tiers.queue_refuses(queue, task) is not None)
