"""The life of a gang, from the counts of its members."""

import pytest

from posse.cluster.facts import Rules
from posse.cluster.phases import GangPhase, phase_at_close, phase_at_first_sight
from posse.cluster.status import STATUSES, Status
from tests.builders import gang

PENDING, INQUEUE, RUNNING, UNKNOWN, COMPLETED = GangPhase


@pytest.mark.parametrize(
    ("said", "phase"),
    [
        ("", PENDING),
        ("Pending", PENDING),
        ("Inqueue", INQUEUE),
        ("Running", RUNNING),
        ("Unknown", UNKNOWN),
        ("Odd", PENDING),
    ],
)
def test_at_first_sight_a_gang_is_what_its_object_says(said: str, phase: GangPhase) -> None:
    assert phase_at_first_sight(gang("g", phase=said)) is phase


def test_a_gang_that_no_queue_gates_is_admitted_from_the_start() -> None:
    assert phase_at_first_sight(gang("g", rules=Rules(gated_by_queue=False))) is INQUEUE


def closing(phase: GangPhase, *, lacks: bool = False, keeps: bool = True, **counts: int) -> GangPhase:
    """The phase at the end of a cycle of a gang with a minimum of two."""
    by_status = [0] * STATUSES
    for name, count in counts.items():
        by_status[Status[name.upper()]] = count
    return phase_at_close(phase, 2, by_status, is_unschedulable=lacks, keeps_admission=keeps)


def test_a_gang_runs_once_its_minimum_is_bound() -> None:
    assert closing(INQUEUE, bound=1, running=1) is RUNNING


def test_a_bind_on_its_way_does_not_make_it_run() -> None:
    assert closing(INQUEUE, binding=2) is INQUEUE


def test_a_gang_of_which_all_ended_is_complete() -> None:
    assert closing(RUNNING, succeeded=1, failed=1) is COMPLETED


def test_one_that_still_runs_is_not_complete() -> None:
    assert closing(RUNNING, succeeded=3, running=1) is RUNNING


def test_a_gang_that_runs_in_part_and_cannot_be_filled_is_unknown() -> None:
    assert closing(RUNNING, running=1, pending=1, lacks=True) is UNKNOWN


def test_a_gang_that_was_not_admitted_stays_outside() -> None:
    assert closing(PENDING, pending=2, lacks=True) is PENDING


@pytest.mark.parametrize("keeps", [True, False])
def test_a_gang_that_was_admitted_and_never_ran_stays_admitted(keeps: bool) -> None:
    assert closing(INQUEUE, pending=2, lacks=True, keeps=keeps) is INQUEUE


def test_a_gang_that_lost_members_keeps_its_admission() -> None:
    assert closing(RUNNING, bound=1, pending=1, keeps=True) is INQUEUE


def test_upstream_lets_it_ask_its_queue_again() -> None:
    assert closing(RUNNING, bound=1, pending=1, keeps=False) is PENDING
