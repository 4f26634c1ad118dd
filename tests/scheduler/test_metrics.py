"""Figures for whoever watches."""

from collections.abc import Iterable

from msgspec import structs

from posse.cluster.facts import Gone, Observation
from posse.cluster.records import CycleResult
from posse.cluster.verdict import Blocker, BlockerKind, Verdict
from posse.scheduler.engine import Engine
from posse.scheduler.metrics.readings import REASONS, readings, reason_of
from posse.scheduler.metrics.series import as_record, series
from posse.scheduler.metrics.tally import Tally
from tests.builders import amounts, conf, crew, cycle, engine, gang, node, queue, task

ALL = conf("gang", "drf predicates proportion")
TASKS, RETRIES = "volcano_unschedule_task_count", "volcano_job_retry_counts"


def of(name: str, job: str = "a") -> str:
    return f'{name}{{job_id="{job}",job_ns="default"}}'


def watched(running: Engine, *cycles: Iterable[Observation]) -> dict[str, float]:
    """The figures after so many cycles, each of which sees what it is given."""
    tally = Tally()
    for seen in cycles:
        tally.learn(cycle(running, *seen), running.world)
    return readings(running, tally)


def verdict(at: int, *, short: bool, uid: str = "a", members: int = 2) -> Verdict:
    return Verdict(
        gang="default/a",
        uid=uid,
        cycle=at,
        state="waiting" if short else "running",
        phase="Inqueue",
        minimum=2,
        members=members,
        ready=0,
        running=0,
        pending=members,
        succeeded=0,
        failed=0,
        was_ready=not short,
    )


def retries(*cycles: Verdict | None) -> list[int]:
    """How often gang a was looked at in vain after cycles that gave these verdicts, or none."""
    world, tally = engine(ALL, gang("a")).world, Tally()
    for number, found in enumerate(cycles, 1):
        tally.learn(CycleResult(number, verdicts=(found,) if found else ()), world)
    return [each.retries for each in tally.gangs(world)]


# ------------------------------------------------------------------ how series are written


def test_a_series_is_written_as_prometheus_writes_it() -> None:
    assert series("up", 1).key == "up"
    assert series("up", 1, zone="b", job="a").key == 'up{job="a",zone="b"}'
    assert series("up", 1, path='a\\b"c\nd').key == r'up{path="a\\b\"c\nd"}'


def test_a_record_of_series_is_sorted_and_of_floats() -> None:
    record = as_record([series("b", 1), series("a", 2, x="2"), series("a", 1, x="1")])
    assert list(record.items()) == [('a{x="1"}', 1.0), ('a{x="2"}', 2.0), ("b", 1.0)]
    assert all(isinstance(value, float) for value in record.values())


# ------------------------------------------------------------------ gangs that wait


def test_a_gang_that_starts_lacks_nothing_and_was_never_looked_at_in_vain() -> None:
    found = watched(engine(ALL, node("n"), gang("a", min=2), *crew("a", 2)), ())
    assert found[of(TASKS)] == 0
    assert found["volcano_unschedule_job_count"] == 0
    assert of(RETRIES) not in found


def test_a_gang_lacks_the_members_that_could_not_have_been_placed() -> None:
    found = watched(engine(ALL, node("n", cpu=2), gang("a", min=3), *crew("a", 3)), ())
    assert found[of(TASKS)] == 1
    assert found["volcano_unschedule_job_count"] == 1


def test_each_cycle_in_which_a_gang_lacks_its_minimum_is_a_retry() -> None:
    assert watched(engine(ALL, node("n", cpu=1), gang("a", min=2), *crew("a", 2)), (), (), ())[of(RETRIES)] == 3


def test_retries_stay_when_a_gang_has_started() -> None:
    running = engine(ALL, node("n", cpu=1), gang("a", min=2), *crew("a", 2))
    found = watched(running, (), (), [node("n")], (), ())
    assert found[of(RETRIES)] == 2
    assert found["volcano_unschedule_job_count"] == 0


def test_a_gang_without_members_is_not_looked_at() -> None:
    found = watched(engine(ALL, node("n"), gang("a", min=2)), ())
    assert of(TASKS) not in found
    assert found["volcano_unschedule_job_count"] == 0


def test_cycles_that_pass_over_a_gang_count_as_if_they_had_tried_it() -> None:
    each_time = [verdict(at, short=True) for at in range(1, 5)]
    assert retries(*each_time) == retries(verdict(1, short=True), None, None, None) == [4]


def test_only_the_cycles_in_which_it_lacked_its_minimum_count() -> None:
    assert retries(verdict(1, short=True), None, verdict(3, short=False), None, verdict(5, short=True), None) == [4]


def test_another_gang_of_the_same_name_begins_anew() -> None:
    assert retries(verdict(1, short=True, uid="before"), None, verdict(3, short=True)) == [1]


def test_a_gang_that_is_gone_has_no_figures() -> None:
    running = engine(ALL, node("n", cpu=1), gang("a", min=2), *crew("a", 2))
    gone = [Gone(kind="task", key=f"default/a-worker-{number}") for number in (0, 1)]
    found = watched(running, (), [*gone, Gone(kind="gang", key="default/a")])
    assert not [name for name in found if 'job_id="a"' in name]


def test_a_tally_lets_go_of_gangs_that_are_gone() -> None:
    running, tally = engine(ALL, node("n", cpu=1)), Tally()
    for number in range(50):
        name = f"g{number}"
        tally.learn(cycle(running, gang(name, min=2), *crew(name, 2)), running.world)
        gone = [Gone(kind="task", key=f"default/{name}-worker-{member}") for member in (0, 1)]
        tally.learn(cycle(running, *gone, Gone(kind="gang", key=f"default/{name}")), running.world)
    assert len(tally._gangs) <= 2 * len(running.world.gangs) < 10


def test_gangs_of_two_namespaces_have_figures_of_their_own() -> None:
    running = engine(ALL, node("n", cpu=1), gang("a", min=2), *crew("a", 2))
    other = structs.replace(gang("a", min=3), key="other/a", namespace="other")
    theirs = [structs.replace(each, namespace="other", gang="other/a") for each in crew("a", 3)]
    found = watched(running, [other, *theirs])
    assert found['volcano_unschedule_task_count{job_id="a",job_ns="default"}'] == 1
    assert found['volcano_unschedule_task_count{job_id="a",job_ns="other"}'] == 2


# ------------------------------------------------------------------ what a configuration lacks


def test_a_plugin_that_is_not_configured_gives_no_figures() -> None:
    found = watched(engine(conf("predicates"), node("n"), gang("a"), *crew("a", 1)), ())
    assert not [name for name in found if "unschedule" in name or "share" in name or "deserved" in name]
    assert found["posse_binds_total"] == 1


# ------------------------------------------------------------------ shares


def test_a_gang_has_its_dominant_share() -> None:
    found = watched(engine(ALL, node("n", cpu=8), gang("a"), *crew("a", 2)), ())
    assert found[of("volcano_job_share")] == 0.25


def test_a_queue_has_weighs_wants_and_deserves() -> None:
    running = engine(
        ALL, queue("q", weight=3), node("n", cpu=4, gpu=2), gang("a", queue="q"), *crew("a", 8, gpu=1, memory=1)
    )
    found = watched(running, ())
    assert found['volcano_queue_weight{queue_name="q"}'] == 3
    assert found['volcano_queue_allocated_milli_cpu{queue_name="q"}'] == 2000
    assert found['volcano_queue_allocated_memory_bytes{queue_name="q"}'] == 2 << 30
    assert found['volcano_queue_allocated_scalar_resources{queue_name="q",resource="nvidia.com/gpu"}'] == 2000
    assert found['volcano_queue_request_milli_cpu{queue_name="q"}'] == 8000
    assert found['volcano_queue_deserved_scalar_resources{queue_name="q",resource="nvidia.com/gpu"}'] == 2000
    assert found['volcano_queue_share{queue_name="q"}'] == 1.0
    assert found['volcano_queue_overused{queue_name="q"}'] == 0


def test_a_queue_that_wants_nothing_is_not_overused() -> None:
    found = watched(engine(ALL, queue("idle"), node("n")), ())
    assert found['volcano_queue_allocated_milli_cpu{queue_name="idle"}'] == 0
    assert 'volcano_queue_overused{queue_name="idle"}' not in found


# ------------------------------------------------------------------ all gangs, all decisions


def test_gangs_of_a_queue_are_counted_by_phase() -> None:
    running = engine(ALL, node("n"), gang("a"), *crew("a", 1, on="n"), gang("b", min=9), *crew("b", 9))
    found = watched(running, (), ())
    assert found['volcano_queue_pod_group_running_count{queue_name="default"}'] == 1
    assert found['volcano_queue_pod_group_inqueue_count{queue_name="default"}'] == 1
    assert found['volcano_queue_pod_group_completed_count{queue_name="default"}'] == 0


def test_waiting_gangs_are_counted_by_queue_and_reason() -> None:
    running = engine(
        ALL,
        *(node("n1", cpu=1), node("n2", cpu=1)),
        *(gang("big"), *crew("big", 1, cpu=1.5)),
        *(gang("short", min=3), *crew("short", 1)),
        queue("full", capability=amounts(cpu=0.5)),
        *(gang("poor", queue="full"), *crew("poor", 1)),
    )
    found = watched(running, ())
    assert {name: value for name, value in found.items() if name.startswith("posse_waiting")} == {
        'posse_waiting_gangs{queue_name="default",reason="nodes"}': 1,
        'posse_waiting_gangs{queue_name="default",reason="validity"}': 1,
        'posse_waiting_gangs{queue_name="full",reason="queue"}': 1,
    }


def test_a_gang_with_several_reasons_is_counted_under_the_first() -> None:
    kinds: tuple[BlockerKind, ...] = ("nodes", "quota", "gates")
    blockers = tuple(Blocker(kind=kind, plugin="p", message="m") for kind in kinds)
    assert reason_of(structs.replace(verdict(1, short=True), blockers=blockers)) == "gates"
    assert REASONS.index("gates") < REASONS.index("quota") < REASONS.index("nodes")


UNSCHEDULABLE = 'volcano_schedule_attempts_total{result="unschedulable"}'


def test_binds_are_counted() -> None:
    found = watched(engine(ALL, node("n", cpu=1), gang("a"), *crew("a", 3)), (), (), ())
    assert found["posse_cycles_total"] == 3
    assert found["posse_binds_total"] == found['volcano_schedule_attempts_total{result="scheduled"}'] == 1


def test_a_pod_that_waits_counts_once_however_long_it_waits() -> None:
    found = watched(engine(ALL, node("n", cpu=1), gang("a"), *crew("a", 3)), (), [node("m", cpu=0.5)], ())
    assert found[UNSCHEDULABLE] == 2


def test_a_pod_that_came_anew_counts_again() -> None:
    running = engine(ALL, node("n", cpu=1), gang("a", min=2), *crew("a", 2))
    again = structs.replace(crew("a", 1)[0], uid="again")
    assert watched(running, (), [again], ())[UNSCHEDULABLE] == 3


def test_a_gang_whose_room_is_being_freed_waits_for_what_it_was_promised() -> None:
    leaving = task("old", cpu=1, on="n", terminating=True)
    found = watched(engine(conf("gang", "predicates"), node("n", cpu=1), leaving, gang("a"), *crew("a", 1)), ())
    assert found["posse_promised_pods"] == 1
    assert found['posse_waiting_gangs{queue_name="default",reason="promised"}'] == 1
    assert found[UNSCHEDULABLE] == 0
