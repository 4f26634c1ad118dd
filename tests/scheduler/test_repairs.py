"""Repairs: a gang that is bound in part gets its minimum soon, or lets go; one that fails over and over rests."""

from itertools import pairwise

import pytest

from posse.cluster.facts import Gone, Observation
from posse.cluster.records import Bind, CycleInput, Effect, Evict, Kept, Outcome, Refused
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from tests.builders import bare, conf, crew, engine, gang, node, task, the_gang, the_task

SECOND = 10**9
TIERS = ("priority gang", "predicates nodeorder")
PAIR = (gang("a", min=2), *crew("a", 2))


def scheduler(*facts: Observation, heals: bool = False, **repair: str) -> Engine:
    text = conf(*TIERS, configurations=[{"name": "repair", "arguments": repair}])
    return engine(text, *facts, heals=heals, checks=True)


def at(running: Engine, seconds: float, *news: Observation, outcomes: tuple[Outcome, ...] = ()) -> list[str]:
    """What a cycle at a time decides: `+a-worker-0 n1` for a bind, `-a-worker-0` for an eviction."""
    return [_short(effect) for effect in running.cycle(CycleInput(int(seconds * SECOND), news, outcomes)).effects]


def _short(effect: Effect) -> str:
    if isinstance(effect, Bind):
        return f"+{bare(effect.pod)} {effect.node}"
    return f"-{bare(effect.pod)}"


def bound(number: int, on: str = "n1") -> Observation:
    return task(f"a-worker-{number}", "a", on=on, phase="Pending")


def refused(number: int, reason: str = "no") -> tuple[Outcome, ...]:
    return (Refused(f"default/a-worker-{number}", f"a-worker-{number}", reason),)


def half_bound(**repair: str) -> Engine:
    """A gang of two; one is bound, the other's bind was refused and its node is full of others by now."""
    running = scheduler(node("n1", cpu=2), *PAIR, **repair)
    assert at(running, 0) == ["+a-worker-0 n1", "+a-worker-1 n1"]
    assert at(running, 1, bound(0), task("other", on="n1"), outcomes=refused(1)) == []
    return running


def test_a_refused_member_is_placed_again_at_once() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR)
    at(running, 0)

    assert at(running, 0.1, outcomes=refused(1)) == ["+a-worker-1 n1"]


def test_a_gang_that_gets_no_minimum_within_the_repair_time_lets_go() -> None:
    running = half_bound()

    assert at(running, 9.9) == []
    assert running.next_deadline() == 10 * SECOND
    assert at(running, 10) == ["-a-worker-0"]
    assert the_task(running, "a-worker-0").status is Status.RELEASING


def test_the_time_in_which_volumes_are_made_is_no_repair_time() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR)
    at(running, 0)
    for seconds in (30, 60):
        assert at(running, seconds) == []

    assert at(running, 61, bound(0), task("other", on="n1"), outcomes=refused(1)) == []
    assert at(running, 69) == []
    assert at(running, 70) == ["-a-worker-0"]


def test_the_repair_time_can_be_chosen() -> None:
    running = half_bound(time="3s")

    assert at(running, 3) == ["-a-worker-0"]


def test_the_policy_may_be_to_keep_what_is_bound() -> None:
    running = half_bound(policy="keep")

    assert at(running, 10) == []
    assert the_task(running, "a-worker-0").status is Status.BOUND


def test_a_gang_that_gets_its_minimum_in_time_keeps_its_members() -> None:
    running = half_bound()

    assert at(running, 5, node("n2")) == ["+a-worker-1 n2"]
    assert at(running, 6, bound(1, "n2")) == []
    assert at(running, 60) == []
    assert running.next_deadline() is None


def test_a_gang_that_had_its_minimum_is_not_let_go_when_it_loses_members() -> None:
    running = scheduler(node("n1", cpu=2), gang("a", min=2), *crew("a", 2))
    at(running, 0)
    at(running, 1, bound(0), bound(1))
    lost = (Gone(kind="task", key="default/a-worker-1", uid="a-worker-1"), task("other", on="n1"), task("new", "a"))

    assert [at(running, seconds, *(lost if seconds == 2 else ())) for seconds in (2, 20, 60)] == [[], [], []]


def test_no_member_is_let_go_whose_bind_is_under_way() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR)
    at(running, 0)
    at(running, 1, bound(0))

    assert at(running, 60) == []
    assert at(running, 61, task("other", on="n1"), outcomes=refused(1)) == ["-a-worker-0"]


def test_a_refused_eviction_is_tried_again_after_the_repair_time() -> None:
    running = half_bound()
    at(running, 10)
    kept = (Kept("default/a-worker-0", "a-worker-0", "a budget forbids it"),)

    assert at(running, 11, outcomes=kept) == []
    assert the_task(running, "a-worker-0").status is Status.BOUND
    assert at(running, 20) == []
    assert at(running, 21) == ["-a-worker-0"]


# ---------------------------------------------------------------------- rests


def test_a_gang_whose_binds_are_always_refused_rests_longer_and_longer() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR)
    at(running, 0)
    tried, now, outcomes = [], 0.0, refused(1)
    for _ in range(400):
        now += 0.5
        if at(running, now, *((bound(0),) if now == 0.5 else ()), outcomes=outcomes):
            tried.append(now)
        outcomes = refused(1) if tried and tried[-1] == now else ()
        if len(tried) == 4:
            break

    assert tried[0] == 0.5
    assert [later - earlier for earlier, later in pairwise(tried)] == [1.5, 2.5, 4.5]


def test_a_bind_that_was_never_tried_is_no_failure_of_the_gang() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR)
    at(running, 0)
    never = (Refused("default/a-worker-1", "a-worker-1", "not the leader", tried=False),)

    assert [at(running, now, outcomes=never) for now in (1, 2, 3)] == [["+a-worker-1 n1"]] * 3


def test_while_it_rests_others_have_its_room() -> None:
    running = scheduler(node("n1", cpu=2), gang("a", min=2), *crew("a", 2), rest="30s")
    at(running, 0)
    both = (*refused(0), *refused(1))
    assert at(running, 1, outcomes=both) == ["+a-worker-0 n1", "+a-worker-1 n1"]

    assert at(running, 2, gang("b", min=2, created=9), *crew("b", 2), outcomes=both) == [
        "+b-worker-0 n1",
        "+b-worker-1 n1",
    ]


def test_who_rests_is_told_why() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR, rest="30s")
    at(running, 0)
    at(running, 1, outcomes=refused(1, "the webhook says no"))
    result = running.cycle(CycleInput(2 * SECOND, (), refused(1, "the webhook says no")))

    (blocker,) = (each for each in result.verdicts[0].blockers if each.plugin == "repair")
    assert blocker.message == "rests after 2 failures, the last: the webhook says no"


def test_it_is_tried_again_when_its_rest_is_over_though_nothing_else_moves() -> None:
    running = scheduler(node("n1", cpu=2), *PAIR, rest="30s")
    at(running, 0)
    at(running, 1, outcomes=refused(1))
    at(running, 2, outcomes=refused(1))
    assert [at(running, 3), at(running, 4)] == [[], []]

    assert running.next_deadline() == 32 * SECOND
    assert at(running, 32) == ["+a-worker-1 n1"]


# ---------------------------------------------------------------------- after a restart


@pytest.mark.parametrize(
    ("phase", "end"), [("", ["-a-worker-0"]), ("Inqueue", ["-a-worker-0"]), ("Running", []), ("Unknown", [])]
)
def test_half_a_gang_found_after_a_restart_is_healed_unless_it_had_its_minimum(phase: str, end: list[str]) -> None:
    facts = (node("n1", cpu=2), gang("a", min=2, phase=phase), bound(0), task("a-worker-1", "a"), task("o", on="n1"))
    running = scheduler(*facts, heals=True)

    assert [at(running, 100), at(running, 109), at(running, 110)] == [[], [], end]


def test_who_does_not_heal_leaves_what_was_there_alone() -> None:
    running = scheduler(node("n1", cpu=2), gang("a", min=2), bound(0), task("a-worker-1", "a"), task("o", on="n1"))

    assert [at(running, 100), at(running, 200)] == [[], []]


def test_a_gang_of_which_a_member_runs_already_is_not_called_unknown_before_it_had_its_minimum() -> None:
    running = half_bound()
    at(running, 2, task("a-worker-0", "a", on="n1"))

    assert the_gang(running, "a").phase.name == "INQUEUE"


def test_an_effort_ends_with_its_gang() -> None:
    running = half_bound()
    at(running, 2, Gone(kind="gang", key="default/a", uid=""))

    assert running.world.efforts == {}
    assert [each for each in at(running, 60) if each.startswith("-")] == []


def test_evictions_say_what_for() -> None:
    running = half_bound()
    (effect,) = running.cycle(CycleInput(10 * SECOND)).effects

    assert isinstance(effect, Evict)
    assert (effect.by, effect.action) == ("default/a", "repair")
    assert effect.reason == "not bound as a whole within 10s: no"


@pytest.mark.parametrize("other", [(), (bound(0),)])
def test_a_gang_that_is_no_more_when_its_bind_is_refused_is_no_matter_for_repair(
    other: tuple[Observation, ...],
) -> None:
    running = scheduler(node("n1", cpu=2), *PAIR)
    at(running, 0)

    assert at(running, 1, *other, Gone(kind="gang", key="default/a", uid=""), outcomes=refused(1)) == []
    assert running.next_deadline() is None
    assert at(running, 20, outcomes=refused(0)) == []
    assert at(running, 60) == []
