"""Each rule finds who breaks it, and lets the nearest be who does not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.cluster.checker.events import Kind, Type
from tests.cluster.checker.report import Rule
from tests.cluster.checker.stage import TERMS, broken, judged
from tests.cluster.checker.tape import Tape
from tests.cluster.checker.verdict import judge

# a pod has one node


def test_a_pod_that_moves_was_bound_twice(tape: Tape) -> None:
    tape.pod("a")
    tape.bind("a", "n1")
    tape.bind("a", "n2")

    assert broken(tape) == {Rule.BOUND_TWICE}


def test_a_pod_that_loses_its_node_was_bound_twice(tape: Tape) -> None:
    tape.pod("a")
    tape.bind("a", "n1")
    tape.bind("a", "")
    tape.explain("a")

    assert broken(tape) == {Rule.BOUND_TWICE}


def test_another_pod_of_the_same_name_may_be_elsewhere(tape: Tape) -> None:
    tape.pod("a")
    tape.bind("a", "n1")
    tape.mark(Type.ASKED, name="team/a")
    tape.delete("a")
    tape.pod("a")
    tape.bind("a", "n2")

    assert broken(tape) == set()


# its node is one that takes it


def test_a_node_that_never_was_takes_nobody(tape: Tape) -> None:
    tape.pod("a")
    tape.bind("a", "n3")

    assert "there was no such node" in str(judged(tape))


@pytest.mark.parametrize(("ago", "found"), [(0.5, set()), (1.5, {Rule.MISPLACED})])
def test_that_a_node_is_gone_is_known_after_a_while(tape: Tape, ago: float, found: set[Rule]) -> None:
    tape.pod("a")
    tape.delete("n1", Kind.NODE)
    tape.wait(ago)
    tape.bind("a", "n1")

    assert broken(tape) == found


@pytest.mark.parametrize(("ago", "found"), [(0.5, set()), (1.5, {Rule.MISPLACED})])
def test_that_a_node_is_cordoned_is_known_after_a_while(tape: Tape, ago: float, found: set[Rule]) -> None:
    tape.pod("a")
    tape.node("n1", unschedulable=True)
    tape.wait(ago)
    tape.bind("a", "n1")

    assert broken(tape) == found


def test_what_a_node_was_lately_excuses_only_if_it_would_have_done(tape: Tape) -> None:
    tape.pod("a")
    tape.node("n1", unschedulable=True)
    tape.wait(60)
    tape.delete("n1", Kind.NODE)
    tape.bind("a", "n1")

    assert broken(tape) == {Rule.MISPLACED}


def test_a_node_that_comes_after_the_bind_comes_too_late(tape: Tape) -> None:
    tape.pod("a")
    tape.bind("a", "n3")
    tape.node("n3")

    assert broken(tape) == {Rule.MISPLACED}


def test_order_is_that_of_revisions_not_of_arrival(tape: Tape) -> None:
    tape.pod("a")
    tape.node("n3")
    tape.bind("a", "n3")
    tape.events[-2:] = reversed(tape.events[-2:])

    assert broken(tape) == set()


TAINT = {"key": "team", "value": "red", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taint", "toleration", "found"),
    [
        (TAINT, {}, {Rule.MISPLACED}),
        (TAINT | {"effect": "NoExecute"}, {}, {Rule.MISPLACED}),
        (TAINT | {"effect": "PreferNoSchedule"}, {}, set()),
        (TAINT, {"key": "team", "value": "red"}, set()),
        (TAINT, {"key": "team", "operator": "Equal", "value": "blue"}, {Rule.MISPLACED}),
        (TAINT, {"key": "team", "operator": "Exists", "effect": "NoSchedule"}, set()),
        (TAINT, {"key": "team", "operator": "Exists", "effect": "NoExecute"}, {Rule.MISPLACED}),
        (TAINT, {"key": "crew", "operator": "Exists"}, {Rule.MISPLACED}),
        (TAINT, {"operator": "Exists"}, set()),
    ],
)
def test_taints_keep_out_who_does_not_tolerate_them(
    tape: Tape, taint: dict[str, str], toleration: dict[str, str], found: set[Rule]
) -> None:
    tape.node("red", taints=[taint])
    tape.pod("a", tolerations=[toleration] if toleration else [])
    tape.bind("a", "red")

    assert broken(tape) == found


def test_a_cordon_can_be_tolerated(tape: Tape) -> None:
    tape.node("n3", unschedulable=True)
    tape.pod("a", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    tape.bind("a", "n3")

    assert broken(tape) == set()


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def wants(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


BOTH = {"matchExpressions": [{"key": "pool", "operator": "Exists"}, {"key": "zone", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        ({"nodeSelector": {"pool": "a"}}, True),
        ({"nodeSelector": {"pool": "b"}}, False),
        ({"nodeSelector": {"zone": "a"}}, False),
        ({"affinity": required(wants("pool", "In", "a", "b"))}, True),
        ({"affinity": required(wants("pool", "In", "b"))}, False),
        ({"affinity": required(wants("pool", "In", "b"), wants("pool", "In", "a"))}, True),
        ({"affinity": required(wants("pool", "NotIn", "a"))}, False),
        ({"affinity": required(wants("zone", "NotIn", "a"))}, True),
        ({"affinity": required(wants("pool", "Exists"))}, True),
        ({"affinity": required(wants("pool", "DoesNotExist"))}, False),
        ({"affinity": required(wants("size", "Gt", "7"))}, True),
        ({"affinity": required(wants("size", "Gt", "8"))}, False),
        ({"affinity": required(wants("size", "Lt", "9"))}, True),
        ({"affinity": required(wants("size", "Lt", "8"))}, False),
        ({"affinity": required(wants("pool", "Lt", "9"))}, False),
        ({"affinity": required(BOTH)}, False),
        ({"affinity": required({})}, False),
        (
            {"affinity": required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]})},
            True,
        ),
    ],
)
def test_a_node_is_one_that_the_pod_asks_for(tape: Tape, spec: dict[str, Any], fits: bool) -> None:
    tape.pod("a", **spec)
    tape.bind("a", "n1")

    assert broken(tape) == (set() if fits else {Rule.MISPLACED})


def test_where_others_put_their_pods_is_not_ours_to_answer_for(tape: Tape) -> None:
    tape.pod("a", scheduler="other")
    tape.bind("a", "n3")

    assert broken(tape) == set()


# a node is not given more than it has


@pytest.mark.parametrize(("cpu", "found"), [("2", set()), ("2001m", {Rule.OVERCOMMITTED})])
def test_pods_take_no_more_than_there_is(tape: Tape, cpu: str, found: set[Rule]) -> None:
    tape.pod("a", cpu="2", scheduler="other")
    tape.bind("a", "n1")
    tape.wait(60)
    tape.pod("b", cpu=cpu)
    tape.bind("b", "n1")

    assert broken(tape) == found


@pytest.mark.parametrize(("pods", "found"), [(10, set()), (11, {Rule.OVERCOMMITTED})])
def test_pods_are_counted_too(tape: Tape, pods: int, found: set[Rule]) -> None:
    for number in range(pods):
        tape.pod(f"p{number}", cpu="0")
        tape.bind(f"p{number}", "n1")

    assert broken(tape) == found


@pytest.mark.parametrize(
    ("end", "found"),
    [
        (lambda tape: tape.change("a", status={"phase": "Succeeded"}), set()),
        (lambda tape: tape.change("a", status={"phase": "Failed"}), set()),
        (lambda tape: tape.delete("a"), set()),
        (lambda tape: tape.leave("a"), {Rule.OVERCOMMITTED}),
    ],
)
def test_room_is_free_again_when_a_pod_has_ended_and_not_before(
    tape: Tape, end: Callable[[Tape], None], found: set[Rule]
) -> None:
    tape.mark(Type.ASKED, name="team")
    for name in ("a", "b"):
        tape.pod(name, cpu="4")
    tape.bind("a", "n1")
    end(tape)
    tape.bind("b", "n1")

    assert broken(tape) == found


@pytest.mark.parametrize(("ago", "found"), [(0.5, set()), (1.5, {Rule.OVERCOMMITTED})])
def test_that_others_were_faster_is_known_after_a_while(tape: Tape, ago: float, found: set[Rule]) -> None:
    tape.pod("a", cpu="4", scheduler="other")
    tape.pod("b", cpu="4")
    tape.bind("a", "n1")
    tape.wait(ago)
    tape.bind("b", "n1")

    assert broken(tape) == found


def test_who_comes_after_us_is_to_blame(tape: Tape) -> None:
    tape.pod("a", cpu="4")
    tape.pod("b", cpu="4", scheduler="other")
    tape.bind("a", "n1")
    tape.bind("b", "n1")

    assert broken(tape) == set()


def test_our_own_pods_are_known_at_once(tape: Tape) -> None:
    for name in ("a", "b"):
        tape.pod(name, cpu="4")
        tape.bind(name, "n1")

    assert broken(tape) == {Rule.OVERCOMMITTED}


@pytest.mark.parametrize(("ago", "found"), [(0.5, set()), (1.5, {Rule.OVERCOMMITTED})])
def test_that_a_node_shrank_is_known_after_a_while(tape: Tape, ago: float, found: set[Rule]) -> None:
    tape.pod("a", cpu="4")
    tape.node("n1", cpu="3")
    tape.wait(ago)
    tape.bind("a", "n1")

    assert broken(tape) == found


def test_only_the_moment_of_binding_is_judged(tape: Tape) -> None:
    tape.pod("a", cpu="4")
    tape.bind("a", "n1")
    tape.node("n1", cpu="3", unschedulable=True)
    tape.wait(60)
    tape.explain("a")

    assert broken(tape) == set()


@pytest.mark.parametrize(("cpu", "found"), [(2, set()), (3, {Rule.OVERCOMMITTED})])
def test_a_pod_that_grew_takes_more(tape: Tape, cpu: int, found: set[Rule]) -> None:
    tape.pod("a", cpu="1")
    tape.pod("b", cpu="2")
    tape.bind("a", "n1")
    tape.change("a", spec={"containers": [{"resources": {"requests": {"cpu": cpu}}}]})
    tape.bind("b", "n1")

    assert broken(tape) == found


def test_a_pod_that_has_been_there_for_long_is_no_news_when_it_changes(tape: Tape) -> None:
    tape.pod("a", cpu="4", scheduler="other")
    tape.pod("b", cpu="4")
    tape.bind("a", "n1")
    tape.wait(60)
    tape.explain("a")
    tape.bind("b", "n1")

    assert broken(tape) == {Rule.OVERCOMMITTED}


def test_a_full_node_takes_who_asks_for_nothing_of_what_is_gone(tape: Tape) -> None:
    tape.pod("a", cpu="9", scheduler="other")
    tape.bind("a", "n1")
    tape.wait(60)
    tape.pod("b", cpu="0")
    tape.bind("b", "n1")

    assert broken(tape) == set()


# gates


def test_a_gated_pod_is_left_alone(tape: Tape) -> None:
    tape.pod("a", schedulingGates=[{"name": "wait"}])
    tape.wait(60)

    assert broken(tape) == set()

    tape.bind("a", "n1")

    assert broken(tape) == {Rule.GATED}


def test_a_pod_whose_gates_are_open_is_like_any_other(tape: Tape) -> None:
    tape.pod("a", schedulingGates=[{"name": "wait"}])
    tape.change("a", spec={"schedulingGates": []})
    tape.bind("a", "n1")

    assert broken(tape) == set()


# nothing is lost


@pytest.mark.parametrize(("after", "found"), [(9, set()), (11, {Rule.UNEXPLAINED})])
def test_who_waits_says_why_after_a_while(tape: Tape, after: float, found: set[Rule]) -> None:
    tape.pod("a")
    tape.wait(after - 1)
    tape.condition("a", {"type": "Ready", "status": "False"})
    tape.wait(1)

    assert broken(tape) == found


@pytest.mark.parametrize(
    "settle",
    [
        lambda tape: tape.explain("a"),
        lambda tape: tape.bind("a", "n1"),
        lambda tape: tape.leave("a"),
        lambda tape: tape.delete("a"),
        lambda tape: tape.change("a", status={"phase": "Failed"}),
    ],
)
def test_who_does_not_wait_need_not(tape: Tape, settle: Callable[[Tape], None]) -> None:
    tape.pod("a")
    tape.pod("b", scheduler="other")
    tape.mark(Type.ASKED, name="team/a")
    settle(tape)
    tape.wait(60)

    assert broken(tape) == set()


@pytest.mark.parametrize(
    "told",
    [
        {"type": "PodScheduled", "status": "True", "reason": "Unschedulable"},
        {"type": "PodScheduled", "status": "False"},
        {"type": "Ready", "status": "False", "reason": "Unschedulable"},
    ],
)
def test_not_every_condition_is_an_explanation(tape: Tape, told: dict[str, str]) -> None:
    tape.pod("a")
    tape.condition("a", told)
    tape.wait(60)

    assert broken(tape) == {Rule.UNEXPLAINED}


# nobody is taken away


@pytest.fixture
def running(tape: Tape) -> Tape:
    """A gang of two that runs, and a pod of somebody else's."""
    tape.gang("g", 2, "g1", "g2")
    tape.pod("other", scheduler="other")
    for name in ("g1", "g2", "other"):
        tape.bind(name, "n1")
    return tape


@pytest.mark.parametrize("name", ["g1", "other"])
@pytest.mark.parametrize("go", [Tape.leave, Tape.delete])
def test_who_runs_is_not_taken_away(running: Tape, name: str, go: Callable[[Tape, str], None]) -> None:
    go(running, name)

    assert broken(running) == {Rule.EVICTED}
    assert len(judged(running).violations) == 1


def test_not_even_who_waits(tape: Tape) -> None:
    tape.pod("a")
    tape.delete("a")

    assert broken(tape) == {Rule.EVICTED}


@pytest.mark.parametrize("name", ["team", "team/g", "team/g1"])
def test_unless_the_test_asked_for_it_or_expects_it(running: Tape, name: str) -> None:
    running.leave("g1")
    running.delete("g1")

    expected = judge(running.end(), replace(TERMS, victims=[name]))

    assert expected.broken == set()
    assert [it.excuse for it in expected.evictions] == ["as a victim"]

    running.mark(Type.ASKED, name=name)

    assert broken(running) == set()
    assert judged(running).evictions == []


def test_who_has_ended_may_be_cleared_away(running: Tape) -> None:
    running.change("g1", status={"phase": "Succeeded"})
    running.delete("g1")

    assert broken(running) == set()


@pytest.mark.parametrize(
    ("reason", "found"),
    [("DeletionByPodGC", set()), ("EvictionByEvictionAPI", {Rule.EVICTED}), ("PreemptionByScheduler", {Rule.EVICTED})],
)
def test_who_says_why_is_believed(running: Tape, reason: str, found: set[Rule]) -> None:
    running.condition("g1", {"type": "DisruptionTarget", "status": "True", "reason": reason})
    running.leave("g1")

    assert broken(running) == found
