"""An audit finds whatever is wrong with a model, and names it as people would."""

from collections.abc import Callable

import numpy as np
import pytest

from posse.cluster.audit import ContradictionError, audit, overdrawn
from posse.cluster.recount import SUMS
from posse.cluster.status import Status
from posse.cluster.world import World
from tests.builders import GPU, bare, conf, crew, cycle, engine, gang, node, queue, task, the_task


def a_world() -> World:
    """Two nodes, a running pod, a gang of two roles, a gang that waits."""
    world = World()
    world.observe(
        [
            queue("default"),
            node("n1", gpu=2),
            node("n2"),
            task("old", on="n1", terminating=True),
            gang("a", min=2, min_roles=(("ps", 1), ("worker", 1))),
            task("a-ps-0", "a", role="ps", on="n1"),
            task("a-worker-0", "a", role="worker"),
            gang("b"),
            *crew("b", 2, gpu=1),
        ]
    )
    return world


def test_a_world_that_was_only_told_things_is_right() -> None:
    assert audit(a_world()) == []


@pytest.mark.parametrize("name", SUMS)
def test_a_wrong_sum_is_found_wherever_it_is(name: str) -> None:
    world = a_world()
    column = getattr(world.columns.ledger, name)
    for place in (np.unravel_index(0, column.shape), np.unravel_index(column.size - 1, column.shape)):
        column[place] += 1
        found = audit(world)
        assert len(found) == 1
        assert found[0].startswith(f"{name}[")
        column[place] -= 1
    assert audit(world) == []


def test_a_wrong_sum_is_named_by_resource_and_node() -> None:
    world = a_world()
    world.columns.ledger.node_used[0, world.nodes.find("n1")] = 500

    assert audit(world) == ["node_used[cpu, n1] is 500, and its tasks add up to 2000"]


def test_a_wrong_sum_is_named_by_role() -> None:
    world = a_world()
    role = world.membership.roles(world.gangs.find("default/a"))["ps"]
    world.columns.ledger.cohort_count[role, Status.RUNNING] = 5

    assert audit(world) == ["cohort_count[default/a role 'ps', RUNNING] is 5, and its tasks add up to 1"]


def _other_gang(world: World) -> None:
    world.columns.ledger.task_gang[the_task(world, "b-worker-0").row] = world.gangs.find("default/a")


def _other_phase_of_node(world: World) -> None:
    world.columns.traits.node_present[world.nodes.find("n2")] = False


def _other_allocatable(world: World) -> None:
    world.columns.traits.node_allocatable[world.dimensions.number(GPU), world.nodes.find("n1")] = 1


def _other_minimum(world: World) -> None:
    world.columns.traits.gang_min[world.gangs.find("default/b")] = 7


def _other_priority(world: World) -> None:
    world.columns.traits.task_priority[the_task(world, "old").row] = 9


def _a_promise_for_nobody(world: World) -> None:
    world.promises[the_task(world, "a-worker-0").row] = 3


def _placed_nowhere(world: World) -> None:
    world.columns.ledger.task_status[the_task(world, "a-worker-0").row] = Status.BINDING


def _member_forgotten(world: World) -> None:
    world.membership.leave(world.gangs.find("default/b"), the_task(world, "b-worker-1").row)


def _declared_elsewhere(world: World) -> None:
    world.columns.traits.gang_declared[world.gangs.find("default/b")] = False


DAMAGE: dict[str, Callable[[World], None]] = {
    "pod default/b-worker-0: gang row": _other_gang,
    "node n2: presence": _other_phase_of_node,
    "node n1: allocatable": _other_allocatable,
    "gang default/b: minimum": _other_minimum,
    "pod default/old: priority": _other_priority,
    "pod default/a-worker-0: a promise": _a_promise_for_nobody,
    "pod default/a-worker-0: is binding without a node": _placed_nowhere,
    "gang default/b: list of members": _member_forgotten,
    "gang default/b: being declared": _declared_elsewhere,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_whatever_is_wrong_is_named(name: str) -> None:
    world = a_world()
    DAMAGE[name](world)

    assert [fault for fault in audit(world) if fault.startswith(name)]


# ---------------------------------------------------------------------- overdrawn nodes


def placed(world: World, names: list[str], status: Status, name: str) -> list[int]:
    rows = [the_task(world, each).row for each in names]
    world.move(rows, [status] * len(rows), [world.nodes.find(name)] * len(rows))
    return rows


def test_a_node_with_room_is_not_overdrawn() -> None:
    world = a_world()

    assert overdrawn(world, placed(world, ["b-worker-0", "b-worker-1"], Status.ALLOCATED, "n1")) == []


def test_an_overdrawn_node_is_named_with_what_it_lacks() -> None:
    world = a_world()

    found = overdrawn(world, placed(world, ["b-worker-0"], Status.ALLOCATED, "n2"))

    assert found == [f"node n2 was overdrawn: -1000 {GPU} idle, -1000 once all promises are kept"]


def test_promises_may_use_what_is_being_freed_and_no_more() -> None:
    world = World()
    world.observe([node("n1", cpu=1), task("old", on="n1", terminating=True), gang("a"), *crew("a", 2)])

    assert overdrawn(world, placed(world, ["a-worker-0"], Status.PIPELINED, "n1")) == []
    assert overdrawn(world, placed(world, ["a-worker-1"], Status.PIPELINED, "n1")) != []


def test_what_others_did_to_a_node_is_not_held_against_a_pod_that_asks_for_something_else() -> None:
    world = World()
    world.observe([node("n1", cpu=1), task("theirs", on="n1", cpu=4), gang("a"), task("a-0", "a", cpu=0, memory=1)])

    assert overdrawn(world, placed(world, ["a-0"], Status.ALLOCATED, "n1")) == []


# ---------------------------------------------------------------------- in the engine


def test_an_engine_that_checks_itself_names_what_is_wrong() -> None:
    running = engine(conf("gang"), node("n1"), gang("a"), *crew("a", 1), checks=True)
    running.world.columns.ledger.node_used[0, 0] += 7

    with pytest.raises(ContradictionError, match="node_used\\[cpu, n1\\]") as caught:
        cycle(running)

    assert len(caught.value.faults) >= 1


def test_an_engine_that_does_not_check_itself_goes_on() -> None:
    running = engine(conf("gang"), node("n1"), gang("a"), *crew("a", 1))
    running.world.columns.ledger.node_used[0, 0] += 7

    assert [bare(effect.pod) for effect in cycle(running).effects] == ["a-worker-0"]
