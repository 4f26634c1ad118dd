"""Overcommit: gangs are admitted to a cluster a little larger than the real one."""

from typing import Any

import pytest

from posse.cluster.facts import GangFact, Observation
from posse.cluster.views import Gang
from posse.errors import InputError
from posse.scheduler.engine import Engine
from posse.scheduler.switches import Side
from tests.builders import amounts, bare, conf, crew, cycle, engine, gang, node, task

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"


def overcommitting(*facts: Observation, factor: float | None = None, mode: Side | None = None) -> Engine:
    arguments = {} if factor is None else {"arguments": {"overcommit-factor": factor}}
    return engine(conf([{"name": "overcommit", **arguments}], actions="enqueue"), *facts, mode=mode)


def admitted(running: Engine) -> list[str]:
    cycle(running)
    gangs = [Gang(running.world, row) for row in running.world.gangs.declared()]
    return [bare(each.key) for each in gangs if each.is_admitted]


def wanting(name: str, cpu: float = 4, **fields: Any) -> GangFact:
    return gang(name, min_resources=amounts(cpu=cpu), **fields)


def test_admits_to_one_and_a_fifth_of_the_cluster():
    running = overcommitting(node("n1", cpu=10), *(wanting(name) for name in "abcd"))
    assert admitted(running) == ["a", "b", "c"]


def test_the_factor_is_an_argument():
    running = overcommitting(node("n1", cpu=10), *(wanting(name) for name in "abcdef"), factor=2.0)
    assert admitted(running) == ["a", "b", "c", "d", "e"]


def test_what_any_pod_uses_is_taken():
    running = overcommitting(node("n1", cpu=10), task("other", cpu=5, on="n1"), wanting("a"), wanting("b"))
    assert admitted(running) == ["a"]


def test_a_gang_that_states_no_minimum_is_admitted_to_a_full_cluster():
    running = overcommitting(node("n1", cpu=1), wanting("a"), gang("b"))
    assert admitted(running) == ["b"]


def test_a_smaller_gang_gets_in_past_one_that_is_refused():
    running = overcommitting(node("n1", cpu=10), wanting("a", 13), wanting("b", 1))
    assert admitted(running) == ["b"]


def test_only_what_a_gang_asks_for_is_compared():
    memory_is_out = task("hog", cpu=0, memory=32, on="n1")
    running = overcommitting(node("n1", cpu=10, memory=10), memory_is_out, wanting("a"))
    assert admitted(running) == ["a"]


def test_pods_as_such_are_not_counted():
    running = overcommitting(node("n1", cpu=10, pods=3), gang("a", min_resources=amounts(cpu=1, pods=500)))
    assert admitted(running) == ["a"]


def test_a_resource_that_no_node_has_is_refused():
    running = overcommitting(node("n1"), gang("a", min_resources=amounts(gpu=1)))
    assert admitted(running) == []


def test_a_factor_below_one_counts_as_one_and_is_told():
    running = overcommitting(node("n1", cpu=10), *(wanting(name) for name in "abc"), factor=0.5)
    assert admitted(running) == ["a", "b"]
    assert running.warnings == ("plugin overcommit: overcommit-factor 0.5 is below 1.0, taken as 1",)


@pytest.mark.parametrize("factor", [1e300, 9e15])
def test_a_factor_beyond_all_sizes_is_refused(factor: float):
    with pytest.raises(InputError, match=r"line \d+, .*overcommit-factor: .* out of range.*at most 1,000,000"):
        overcommitting(node("n1"), factor=factor)


def test_a_factor_beyond_all_sizes_admits_all_under_upstream():
    running = overcommitting(node("n1", cpu=10), *(wanting(name) for name in "abcd"), factor=1e300, mode="upstream")
    assert admitted(running) == ["a", "b", "c", "d"]


def test_a_factor_below_one_is_reset_under_upstream():
    running = overcommitting(node("n1", cpu=10), *(wanting(name) for name in "abcd"), factor=0.5, mode="upstream")
    assert admitted(running) == ["a", "b", "c"]
    assert "taken as 1.2" in running.warnings[0]


def test_a_gang_admitted_earlier_is_charged_for_what_it_has_not_got_yet():
    first = wanting("a", 8, phase="Inqueue")
    running = overcommitting(node("n1", cpu=10), first, wanting("b", 4), wanting("c", 5))
    assert admitted(running) == ["a", "b"]


def test_a_gang_of_a_queue_that_is_gone_is_not_charged():
    stranded = wanting("a", 8, phase="Inqueue", queue="gone")
    assert "b" in admitted(overcommitting(node("n1", cpu=10), stranded, wanting("b", 12)))


def test_what_an_admitted_gang_already_runs_is_counted_once():
    begun = [wanting("a", 8, phase="Inqueue", min=8), *crew("a", 6, on="n1")]
    running = overcommitting(node("n1", cpu=10), *begun, wanting("b", 4))
    assert admitted(running) == ["a", "b"]


def test_what_an_admitted_gang_already_runs_is_counted_twice_under_upstream():
    begun = [wanting("a", 8, phase="Inqueue", min=8), *crew("a", 6, on="n1")]
    running = overcommitting(node("n1", cpu=10), *begun, wanting("b", 4), mode="upstream")
    assert admitted(running) == ["a"]


def test_a_running_gang_is_charged_for_the_rest_of_its_minimal_resources():
    grown = [wanting("a", 10, phase="Running", min=2), *crew("a", 6, on="n1")]
    running = overcommitting(node("n1", cpu=10), *grown, wanting("b", 3), wanting("c", 2))
    assert admitted(running) == ["a", "c"]


def test_a_running_gang_that_lost_its_minimum_is_not_waited_for():
    ended = [wanting("a", 10, phase="Running", min=2), task("a-driver-0", "a", on="n1")]
    running = overcommitting(node("n1", cpu=10), *ended, wanting("b", 11))
    assert admitted(running) == ["a", "b"]


def test_what_gated_members_will_ask_for_keeps_nobody_out():
    behind = [wanting("a", 8, phase="Inqueue"), *crew("a", 8, gates=("example.com/later",))]
    running = overcommitting(node("n1", cpu=10), *behind, wanting("b", 12))
    assert admitted(running) == ["a", "b"]


def test_the_queues_own_gate_does_not_hide_what_members_ask_for():
    behind = [wanting("a", 8, phase="Inqueue"), *crew("a", 8, gates=(QUEUE_GATE,))]
    running = overcommitting(node("n1", cpu=10), *behind, wanting("b", 12))
    assert admitted(running) == ["a"]


def test_a_refused_gang_learns_of_what_there_is_too_little():
    running = overcommitting(node("n1", cpu=10), wanting("a", 9), wanting("b", 4))
    refused = next(verdict for verdict in cycle(running).verdicts if verdict.gang == "default/b")
    assert refused.phase == "Pending"
    (blocker,) = refused.blockers
    assert (blocker.kind, blocker.plugin, blocker.unit) == ("admission", "overcommit", "cpu")
    assert (blocker.have, blocker.need) == (3000, 4000)
    assert "cpu" in blocker.message
