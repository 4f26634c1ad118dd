"""Gang: all or nothing."""

from typing import Any

import pytest

from posse.cluster.facts import Gone, SubgroupPolicy
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from posse.scheduler.plugin import Vote
from posse.scheduler.plugins.gang import GangPlugin
from posse.scheduler.victims import victims, victims_of_gang
from tests.builders import (
    bare,
    binds,
    conf,
    crew,
    cycle,
    engine,
    gang,
    in_turn,
    node,
    task,
    the_gang,
    the_task,
)

GANG = conf("gang")
BACKFILLING = conf("gang", actions="allocate, backfill")


def plugin(running: Engine) -> GangPlugin:
    (found,) = (each for each in running.tiers.plugins if isinstance(each, GangPlugin))
    return found


def invalid(running: Engine, name: str = "a") -> str:
    """The reason for which a gang cannot be placed whatever the room; empty if it can."""
    blocker = running.tiers.gang_invalid(the_gang(running, name))
    return blocker.reason if blocker else ""


def team(*roles: tuple[str, int], gang_name: str = "a", **fields: Any) -> list[Any]:
    """Members by role: `team(("ps", 1), ("worker", 2))`."""
    return [
        task(f"{gang_name}-{role}-{n}", gang_name, role=role, **fields) for role, count in roles for n in range(count)
    ]


def standing(running: Engine, name: str = "a") -> tuple[bool, Vote, bool]:
    """Whether a gang is ready, how the vote on its promises is, and whether it starves."""
    asked, the = plugin(running), the_gang(running, name)
    return asked.gang_ready(the), asked.gang_pipelined(the), asked.gang_starving(the)


# ---------------------------------------------------------------------- all or nothing


def test_a_gang_whose_minimum_fits_is_bound_as_one():
    assert binds(engine(GANG, node("n1", cpu=3), gang("a", min=3), *crew("a", 3))).keys() == {
        "a-worker-0",
        "a-worker-1",
        "a-worker-2",
    }


def test_a_gang_whose_minimum_does_not_fit_takes_nothing():
    running = engine(GANG, node("n1", cpu=2), gang("a", min=3), *crew("a", 3))
    assert binds(running) == {}
    assert not running.world.columns.ledger.node_used[0].any()


def test_what_a_gang_could_not_use_goes_to_the_next():
    running = engine(GANG, node("n1", cpu=2), gang("a", min=3), *crew("a", 3), gang("b", min=2), *crew("b", 2))
    assert binds(running).keys() == {"b-worker-0", "b-worker-1"}


def test_members_beyond_the_minimum_are_bound_as_far_as_there_is_room():
    assert len(binds(engine(GANG, node("n1", cpu=3), gang("a", min=2), *crew("a", 5)))) == 3


def test_a_gang_that_waits_is_tried_again_when_there_is_room():
    running = engine(GANG, node("n1", cpu=2), gang("a", min=3), *crew("a", 3))
    assert binds(running) == {}
    assert len(binds(running, node("n2", cpu=1))) == 3


def test_without_the_plugin_every_pod_stands_for_itself():
    assert len(binds(engine(conf("priority"), node("n1", cpu=2), gang("a", min=3), *crew("a", 3)))) == 2


# ---------------------------------------------------------------------- valid


def test_a_gang_with_too_few_members_is_invalid():
    running = engine(GANG, node("n1"), gang("a", min=3), *crew("a", 2))
    assert invalid(running) == "NotEnoughPods"
    assert binds(running) == {}


def test_members_that_failed_or_are_leaving_could_not_run_any_more():
    gone = [task("a-gone-0", "a", phase="Failed"), task("a-gone-1", "a", on="n1", terminating=True)]
    assert invalid(engine(GANG, node("n1"), gang("a", min=3), *crew("a", 2), *gone)) == "NotEnoughPods"


def test_members_that_ended_well_still_count():
    ended = task("a-ended-0", "a", phase="Succeeded")
    running = engine(GANG, node("n1"), gang("a", min=3), *crew("a", 2), ended)
    assert invalid(running) == ""
    assert len(binds(running)) == 2


def test_each_role_needs_its_own_minimum():
    asked = gang("a", min=3, min_roles=(("ps", 1), ("worker", 2)))
    assert invalid(engine(GANG, node("n1"), asked, *team(("worker", 3)))) == "NotEnoughTasks"
    assert invalid(engine(GANG, node("n1"), asked, *team(("ps", 1), ("worker", 2)))) == ""


def test_roles_are_not_asked_for_if_the_gang_takes_fewer_than_all_of_them_together():
    asked = gang("a", min=2, min_roles=(("ps", 1), ("worker", 2)))
    assert invalid(engine(GANG, node("n1"), asked, *team(("worker", 2)))) == ""


def test_each_policy_needs_its_sub_gangs():
    pairs = SubgroupPolicy(name="pair", size=2, min_groups=2, match_keys=("pair",))
    asked = gang("a", min=2, subgroups=(pairs,))
    of_one = [task(f"a-x-{n}", "a", labels={"pair": "x"}) for n in range(3)]
    assert invalid(engine(GANG, node("n1"), asked, *of_one)) == "NotEnoughTasks"
    of_two = [*of_one, task("a-y-0", "a", labels={"pair": "y"})]
    assert invalid(engine(GANG, node("n1"), asked, *of_two)) == ""


# ---------------------------------------------------------------------- ready, pipelined, starving


def test_a_gang_is_ready_when_its_minimum_has_nodes():
    running = engine(GANG, node("n1"), gang("a", min=2), *crew("a", 2, on="n1"), *crew("a", 1, start=2))
    assert standing(running) == (True, Vote.PERMIT, False)


def test_a_gang_with_too_few_on_nodes_starves():
    running = engine(GANG, node("n1"), gang("a", min=3), *crew("a", 2, on="n1"), *crew("a", 1, start=2))
    assert standing(running) == (False, Vote.REJECT, True)


def test_best_effort_members_count_as_ready_before_they_are_placed_yet_let_a_gang_starve():
    running = engine(GANG, node("n1"), gang("a", min=2), *crew("a", 1, on="n1"), task("a-idler-0", "a", cpu=0))
    assert standing(running) == (True, Vote.PERMIT, True)


def test_a_gang_of_best_effort_members_is_bound_by_backfill():
    running = engine(BACKFILLING, node("n1"), gang("a", min=2), *crew("a", 2, cpu=0))
    assert binds(running).keys() == {"a-worker-0", "a-worker-1"}


def test_a_gang_is_ready_only_with_every_role():
    asked = gang("a", min=3, min_roles=(("ps", 1), ("worker", 2)))
    running = engine(GANG, node("n1"), asked, *team(("worker", 3), on="n1"), *team(("ps", 1)))
    assert standing(running) == (False, Vote.REJECT, False)


def test_a_gang_short_of_a_role_takes_nothing():
    asked = gang("a", min=3, min_roles=(("ps", 1), ("worker", 2)))
    running = engine(GANG, node("n1", cpu=4), asked, *team(("worker", 3)), *team(("ps", 1), cpu=8))
    assert binds(running) == {}


def leaving_room(minimum: int = 2) -> Engine:
    """A full node that a pod is leaving, and a gang that fits once it is gone."""
    leaving = task("old", cpu=2, on="n1", terminating=True)
    return engine(GANG, node("n1", cpu=2), leaving, gang("a", min=minimum), *crew("a", minimum))


def test_a_gang_that_fits_once_others_are_gone_is_promised_their_room():
    running = leaving_room()
    assert binds(running) == {}
    assert [the_task(running, f"a-worker-{n}").status for n in range(2)] == [Status.PIPELINED] * 2
    assert standing(running) == (False, Vote.PERMIT, False)


def test_a_promise_is_kept_until_the_room_is_there():
    running = leaving_room()
    binds(running)
    assert binds(running) == {}
    assert binds(running, Gone(kind="task", key="default/old")).keys() == {"a-worker-0", "a-worker-1"}


def test_a_promise_keeps_others_out():
    running = leaving_room()
    binds(running)
    later = [gang("b", min=1, created=-1), *crew("b", 1)]
    assert binds(running, *later, Gone(kind="task", key="default/old")).keys() == {"a-worker-0", "a-worker-1"}


def test_under_upstream_a_promise_ends_with_its_cycle():
    leaving = task("old", cpu=2, on="n1", terminating=True)
    running = engine(GANG, node("n1", cpu=2), leaving, gang("a", min=2), *crew("a", 2), mode="upstream")
    cycle(running)
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_no_promise_is_made_to_a_gang_that_would_still_not_fit():
    running = leaving_room(minimum=3)
    binds(running)
    assert the_gang(running, "a").waiting_count == 0


# ---------------------------------------------------------------------- sub-gangs


def paired(*values: str, **fields: Any) -> list[Any]:
    return [task(f"a-{value}-{n}", "a", labels={"pair": value}, **fields) for value in values for n in range(2)]


PAIRS = SubgroupPolicy(name="pair", size=2, min_groups=1, match_keys=("pair",))


def test_a_sub_gang_is_placed_whole_or_not_at_all():
    running = engine(GANG, node("n1", cpu=3), gang("a", min=2, subgroups=(PAIRS,)), *paired("x", "y"))
    assert binds(running).keys() in ({"a-x-0", "a-x-1"}, {"a-y-0", "a-y-1"})


def test_a_gang_needs_as_many_ready_sub_gangs_as_its_policy_says():
    two = SubgroupPolicy(name="pair", size=2, min_groups=2, match_keys=("pair",))
    running = engine(GANG, node("n1", cpu=3), gang("a", min=2, subgroups=(two,)), *paired("x", "y"))
    assert binds(running) == {}


# ---------------------------------------------------------------------- order


def one_ready(text: str, **settings: Any) -> Engine:
    fresh = [gang("a", min=2), *crew("a", 2)]
    return engine(text, node("n1"), *fresh, gang("b", min=1), *crew("b", 1, on="n1"), **settings)


def test_a_ready_gang_goes_first():
    assert in_turn(one_ready(GANG), "a", "b") == ["b", "a"]


def test_an_unready_gang_goes_first_where_the_configuration_says_so():
    running = one_ready(conf([{"name": "gang", "arguments": {"gang.order": "unready-first"}}]))
    assert in_turn(running, "a", "b") == ["a", "b"]


def test_an_unready_gang_goes_first_under_upstream():
    assert in_turn(one_ready(GANG, mode="upstream"), "a", "b") == ["a", "b"]


def test_gangs_that_are_alike_are_left_to_others():
    running = engine(GANG, node("n1"), gang("a", created=2), *crew("a", 1), gang("b", created=1), *crew("b", 1))
    assert in_turn(running, "a", "b") == ["b", "a"]


# ---------------------------------------------------------------------- victims


@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
def test_only_members_beyond_the_minimum_may_go(point: Any):
    running = engine(GANG, node("n1"), gang("a", min=2), *crew("a", 4, on="n1"), gang("b"), task("b-0", "b"))
    candidates = [the_task(running, f"a-worker-{n}") for n in range(4)]
    gone = victims(running.tiers, point, the_task(running, "b-0"), candidates)
    assert [bare(each.key) for each in gone] == ["a-worker-0", "a-worker-1"]


def test_each_gang_gives_up_its_own_surplus():
    gangs = [gang("a", min=1), *crew("a", 2, on="n1"), gang("b", min=1), *crew("b", 2, on="n1")]
    running = engine(GANG, node("n1"), *gangs, gang("c"), task("c-0", "c"))
    candidates = [the_task(running, f"{name}-worker-{n}") for n in range(2) for name in "ab"]
    gone = victims(running.tiers, "preemptable", the_task(running, "c-0"), candidates)
    assert [bare(each.key) for each in gone] == ["a-worker-0", "b-worker-0"]


def test_members_that_ended_well_count_towards_the_minimum_that_stays():
    ended = task("a-ended-0", "a", phase="Succeeded")
    running = engine(GANG, node("n1"), gang("a", min=2), *crew("a", 2, on="n1"), ended, gang("b"), task("b-0", "b"))
    candidates = [the_task(running, f"a-worker-{n}") for n in range(2)]
    assert len(victims(running.tiers, "preemptable", the_task(running, "b-0"), candidates)) == 1


def test_pods_of_gangs_that_nobody_declared_stay():
    running = engine(GANG, node("n1"), *crew("a", 2, on="n1"), gang("b"), task("b-0", "b"))
    candidates = [the_task(running, f"a-worker-{n}") for n in range(2)]
    assert victims(running.tiers, "preemptable", the_task(running, "b-0"), candidates) == []


def test_who_evicts_gangs_as_gangs_may_take_all_of_one():
    running = engine(GANG, node("n1"), gang("a", min=2), *crew("a", 2, on="n1"), gang("b"), task("b-0", "b"))
    candidates = [the_task(running, f"a-worker-{n}") for n in range(2)]
    assert victims_of_gang(running.tiers, the_gang(running, "b"), candidates, across_queues=False) == candidates
