"""The clock, how long a run lasts, and what it reports on the way."""

from typing import Any

from posse.scheduler.action import Action
from posse.scheduler.registry import built_in
from posse.scheduler.session import Session
from posse.simulation.run import Run
from posse.simulation.scenario import moment
from tests.simulation.scenes import SECOND, START, Manifest, after, group, node, owner, pod, run, step, template

WAITING = (node(cpu="1"), pod("a", cpu="2"))


def times(*manifests: Manifest, **more: Any) -> list[float]:
    """When each cycle was, in seconds after the start."""
    ran = run(*manifests, **more)
    return [(now - ran.start) / SECOND for now, _ in ran.history.log]


# ------------------------------------------------------------------ the clock


def test_the_clock_starts_at_the_newest_time_of_the_input() -> None:
    old, new = ({"creationTimestamp": f"2026-03-0{day}T00:00:00Z"} for day in (1, 2))
    ran = run(node(), pod("a", metadata=old), pod("b", metadata=new), now=None)
    assert ran.start == moment("2026-03-02T00:00:00Z", "now")


def test_a_time_of_deletion_does_not_start_the_clock() -> None:
    going = {"creationTimestamp": "2026-03-01T00:00:00Z", "deletionTimestamp": "2026-03-05T00:00:00Z"}
    ran = run(node(), pod("a", on="n1", metadata=going), now=None)
    assert ran.start == moment("2026-03-01T00:00:00Z", "now")


def test_without_any_time_the_clock_starts_where_it_always_does() -> None:
    assert run(node(), now=None).start == run(node(), pod("a"), now=None).start == moment(START, "now")


def test_so_many_cycles_are_a_period_apart() -> None:
    assert times(node(), pod("a", arrival="1h"), cycles=3) == [0, 1, 2]


def test_to_the_fixpoint_the_clock_jumps_to_what_is_due() -> None:
    assert times(node(), pod("a", arrival="1h", run_time="2h"))[-2:] == [10801, 10802]


def test_a_period_can_be_configured() -> None:
    text = 'schedulePeriod: 5s\nactions: allocate\ntiers: [{plugins: [{name: gang}]}]'
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


class EvictEverybody(Action):
    """Evict every pod that runs."""

    name = "evict-everybody"

    def run(self, session: Session) -> None:
        for gang in session.gangs(list(type(session.gangs([])) and session.world.columns and [])):
            del gang


def test_the_same_state_again_ends_a_run_with_a_warning() -> None:
    ran = Run(_restless())
    ran.to_the_end()
    assert ran.is_settled is False
    assert ran.warnings == ["stopped: the same state came again, and would for ever"]


def _restless() -> Any:
    raise NotImplementedError(built_in, owner, template, group, step)
