"""The clock, how long a run lasts, and what it reports on the way."""

from typing import Any

import numpy as np

from posse.cluster.status import Status
from posse.cluster.views import Task
from posse.kube.meta import instant
from posse.scheduler.action import Action
from posse.scheduler.arguments import Arguments
from posse.scheduler.session import Session
from tests.simulation.scenes import (
    SECOND,
    START,
    Manifest,
    after,
    begun,
    group,
    node,
    owner,
    pod,
    run,
    step,
    template,
)

WAITING = (node(cpu="1"), pod("a", cpu="2"))


def times(*manifests: Manifest, **more: Any) -> list[float]:
    """When each cycle was, in seconds after the start."""
    ran, found = begun(*manifests, **more), list[float]()
    ran.to_the_end(lambda now, _: found.append((now - ran.start) / SECOND))
    return found


# ------------------------------------------------------------------ the clock


def test_the_clock_starts_at_the_newest_time_of_the_input() -> None:
    old, new = ({"creationTimestamp": f"2026-03-0{day}T00:00:00Z"} for day in (1, 2))
    ran = run(node(), pod("a", metadata=old), pod("b", metadata=new), now=None)
    assert ran.start == instant("2026-03-02T00:00:00Z")


def test_a_time_of_deletion_does_not_start_the_clock() -> None:
    going = {"creationTimestamp": "2026-03-01T00:00:00Z", "deletionTimestamp": "2026-03-05T00:00:00Z"}
    ran = run(node(), pod("a", on="n1", metadata=going), now=None)
    assert ran.start == instant("2026-03-01T00:00:00Z")


def test_without_any_time_the_clock_starts_where_it_always_does() -> None:
    assert run(node(), now=None).start == run(node(), pod("a"), now=None).start == instant(START)


def test_so_many_cycles_are_a_period_apart() -> None:
    assert times(node(), pod("a", arrival="1h"), cycles=3) == [0, 1, 2]


def test_to_the_fixpoint_the_clock_jumps_to_what_is_due() -> None:
    assert times(node(), pod("a", arrival="1h", run_time="2h"))[-2:] == [10801, 10802]


def test_a_period_can_be_configured() -> None:
    text = "schedule-period: 5s\nactions: allocate\ntiers: [{plugins: [{name: gang}]}]"
    assert times(node(), cycles=3, configuration=text) == [0, 5, 10]


# ------------------------------------------------------------------ the end


def test_a_run_ends_when_nothing_is_due() -> None:
    result = after(*WAITING)
    assert result["fixpoint"] is True
    assert result["warnings"] == []


def test_so_many_cycles_are_run_even_if_nothing_happens() -> None:
    result = after(*WAITING, cycles=7)
    assert (result["cycles"], result["time"], result["fixpoint"]) == (7, 6.0, True)


def test_cycles_that_end_before_it_comes_to_rest_are_no_fixpoint() -> None:
    assert after(node(), pod("a"), cycles=1)["fixpoint"] is False
    assert after(node(), pod("a", run_time="1h"), cycles=9)["fixpoint"] is False


def test_until_ends_a_run_before_what_is_due_later() -> None:
    result = after(node(), pod("a", run_time="10s"), pod("b", arrival="1h"), until=60 * SECOND)
    assert list(result["binds"]) == ["default/a"]
    assert result["time"] <= 60
    assert result["fixpoint"] is False


def test_a_run_that_does_not_come_to_rest_is_stopped_with_a_warning() -> None:
    arriving = [pod(f"p{number}", arrival=f"{number}m") for number in range(9)]
    result = after(node(), *arriving, max_cycles=4)
    assert (result["cycles"], result["fixpoint"]) == (4, False)
    assert result["warnings"] == ["stopped after 4 cycles: the limit was reached before the cluster came to rest"]


class EvictWhoeverRuns(Action):
    """What no action would do: leave nobody in peace."""

    name = "evict-whoever-runs"

    def run(self, session: Session) -> None:
        tasks = [Task(session.world, row) for row in session.world.tasks.declared()]
        for task in (each for each in tasks if each.status is Status.RUNNING and each.gang):
            session.statement().evict(np.array([task.row], np.int32))
            session.evicted(task, task.gang, self.name, "")


def test_the_same_state_again_ends_a_run_with_a_warning() -> None:
    restless = begun(node(), owner("StatefulSet", "web", replicas=1, template=template()))
    restless.engine._actions.append(EvictWhoeverRuns(Arguments({}), ()))
    restless.to_the_end()
    assert restless.is_settled is False
    assert restless.warnings == ["stopped: the same state came again, and would for ever"]
    assert restless.engine.cycles < 10


# ------------------------------------------------------------------ steps


def test_a_step_is_taken_after_its_cycle() -> None:
    result = after(*WAITING, steps=(step(2, node("n2", cpu="2")),), cycles=4)
    assert result["binds"] == {"default/a": "n2"}
    assert times(*WAITING, steps=(step(2, node("n2", cpu="2")),))[2] == 2


def test_a_run_waits_for_its_last_step() -> None:
    result = after(*WAITING, steps=(step(5, node("n2", cpu="2")),))
    assert result["binds"] == {"default/a": "n2"}
    assert result["fixpoint"] is True


# ------------------------------------------------------------------ events


def test_what_an_object_was_told_already_is_no_event() -> None:
    short = (node(cpu="1"), group("a", 2), *(pod(f"a-{number}", group="a") for number in (1, 2)))
    events = after(*short, cycles=5)["events"]
    assert len(events) == len({event["message"] for event in events})
    assert {event["reason"] for event in events} == {"Unschedulable"}


def test_events_and_conditions_of_a_gang_count_alike() -> None:
    result = after(node(cpu="1"), group("a", 3), *(pod(f"a-{number}", group="a") for number in range(3)))
    (condition,) = result["gangs"]["default/a"]["conditions"]
    assert result["events"][-1]["message"] == condition["message"]
    assert condition["message"].startswith("2/3 tasks in gang unschedulable")


def test_what_is_told_again_after_something_else_is_an_event() -> None:
    short = (node(cpu="1"), group("a", 2), *(pod(f"a-{number}", group="a") for number in (1, 2)))
    steps = (
        step(2, node(cpu="1500m")),
        step(3, node(cpu="1")),
        step(4, pod("a-3", group="a")),
        step(6, delete="Pod a-3"),
    )
    events = after(*short, steps=steps, cycles=9)["events"]
    messages = [event["message"] for event in events]
    assert messages[0] == messages[-1]
    assert len(messages) > len(set(messages))
    assert [event["cycle"] for event in events] == sorted(event["cycle"] for event in events)
