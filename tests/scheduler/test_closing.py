"""Verdicts: where a gang stands when a cycle closes, and why, in words that its users know."""

import pytest

from posse.cluster.facts import Gone, Rules
from posse.cluster.verdict import Verdict
from posse.scheduler.engine import Engine
from posse.scheduler.switches import Side
from tests.builders import amounts, bare, conf, crew, cycle, engine, gang, node, queue, task

CONF = conf("priority gang", "predicates", actions="allocate, backfill")


def verdict(*facts: object, name: str = "a", mode: Side | None = None) -> Verdict:
    """What the first cycle finds about a gang."""
    return told(engine(CONF, *facts, mode=mode), name)


def told(running: Engine, name: str = "a", *news: object) -> Verdict:
    return next(each for each in cycle(running, *news).verdicts if bare(each.gang) == name)


OLD = task("old", cpu=2, on="n1", terminating=True)


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ((gang("a", min=2), *crew("a", 2)), "waiting"),
        ((node("n1"), gang("a", min=2), *crew("a", 2)), "placed"),
        ((node("n1"), gang("a", min=1), *crew("a", 1, on="n1")), "running"),
        ((node("n1", cpu=2), OLD, gang("a", min=2), *crew("a", 2)), "pipelined"),
        ((node("n1"), gang("a", min=3), *crew("a", 2)), "invalid"),
        ((node("n1"), gang("a", min=2), *crew("a", 1), task("a-1", "a", gates=("x",))), "gated"),
        ((gang("a"), *crew("a", 2, node="n1", phase="Succeeded")), "finished"),
        ((node("n1", cpu=1), gang("a", min=1), *crew("a", 2)), "placed"),
        ((gang("a", min=0),), "waiting"),
    ],
)
def test_the_state_of_a_gang(facts: tuple[object, ...], state: str) -> None:
    assert verdict(*facts).state == state


def test_members_are_counted_by_where_they_stand() -> None:
    found = verdict(
        node("n1"),
        gang("a", min=9),
        *crew("a", 2, on="n1"),
        *crew("a", 3, start=2),
        task("done", "a", node="n1", phase="Succeeded"),
        task("bad", "a", node="n1", phase="Failed"),
        task("gated", "a", gates=("x",)),
    )

    assert (found.members, found.running, found.succeeded, found.failed, found.pending) == (8, 2, 1, 1, 4)
    assert (found.minimum, found.ready) == (9, 3)


def test_a_member_that_was_promised_a_node_is_pending() -> None:
    found = verdict(node("n1", cpu=2), OLD, gang("a", min=2), *crew("a", 2))

    assert (found.members, found.ready, found.pending) == (2, 0, 2)


def test_a_ready_gang_says_so() -> None:
    found = verdict(node("n1"), gang("a", min=2), *crew("a", 2))

    assert found.was_ready
    assert found.message == "pod group is ready, 2 Binding, 2 minAvailable"


def test_one_that_is_not_says_who_found_no_node() -> None:
    found = verdict(node("n1", cpu=2), gang("a", min=3), *crew("a", 3))

    assert found.message == (
        "pod group is not ready, 3 Pending, 3 minAvailable. "
        "Origin reason is a-worker-2: 0/1 nodes are unavailable: 1 insufficient cpu."
    )
    assert found.unschedulable == 1


def test_each_waiting_pod_hears_what_it_waits_for() -> None:
    found = verdict(node("n1", cpu=2), gang("a", min=3), *crew("a", 3))

    assert [pod.message for pod in found.pods] == [
        "Pod default/a-worker-0 can possibly be assigned to n1, once minAvailable is satisfied",
        "Pod default/a-worker-1 can possibly be assigned to n1, once minAvailable is satisfied",
        "0/1 nodes are unavailable: 1 insufficient cpu.",
    ]


def test_a_gated_pod_is_left_alone() -> None:
    found = verdict(gang("a", min=2), *crew("a", 1), task("gated", "a", gates=("x",)))

    assert [bare(pod.pod) for pod in found.pods] == ["a-worker-0"]
    assert (
        found.blockers[0].message == "1 of 2 pods wait for a scheduling gate to be lifted, 1 are free and 2 are needed"
    )


def test_equal_pods_are_blocked_by_one_thing() -> None:
    found = verdict(node("n1", cpu=1), gang("a"), *crew("a", 3, cpu=4), task("a-big", "a", cpu=5))

    assert sorted(blocker.task for blocker in found.blockers if blocker.kind == "nodes") == [
        "default/a-big",
        "default/a-worker-0",
    ]


def test_nodes_are_counted_by_their_first_refusal() -> None:
    nodes = [node("n1", cpu=1), node("n2", unschedulable=True), node("n3", cpu=1)]
    found = verdict(*nodes, gang("a"), *crew("a", 1, cpu=2))

    assert found.blockers[0].nodes == (("insufficient cpu", 2), ("cordoned", 1))


def test_a_node_that_is_gone_is_no_longer_counted() -> None:
    running = engine(CONF, node("n1", cpu=1), node("n2", cpu=1), gang("a"), *crew("a", 1, cpu=2))
    cycle(running)

    found = told(running, "a", Gone(kind="node", key="n2"), gang("a", labels={"changed": "yes"}))

    assert found.pods[0].message == "0/1 nodes are unavailable: 1 insufficient cpu."


def test_an_invalid_gang_says_what_it_has_and_needs() -> None:
    blocker = verdict(node("n1"), gang("a", min=3), *crew("a", 2)).blockers[0]

    assert (blocker.kind, blocker.reason, blocker.have, blocker.need) == ("validity", "NotEnoughPods", 2, 3)


# ---------------------------------------------------------------------- the word that autoscalers hear


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ((node("n1", cpu=1), gang("a", min=2), *crew("a", 2)), "Unschedulable"),
        ((node("n1", cpu=2), OLD, gang("a", min=2), *crew("a", 2)), "GangWaiting"),
        ((gang("a", min=3), *crew("a", 2)), "GangWaiting"),
    ],
)
def test_a_pod_is_unschedulable_only_where_nodes_would_help(facts: tuple[object, ...], word: str) -> None:
    assert {pod.reason for pod in verdict(*facts).pods} == {word}


@pytest.mark.parametrize(("capability", "word"), [({}, "Unschedulable"), ({"cpu": 1}, "GangWaiting")])
def test_who_waits_for_its_queues_share_waits_for_nodes_only_if_it_may_have_more(
    capability: dict[str, float], word: str
) -> None:
    text = conf("priority gang", "predicates proportion", actions="allocate")
    running = engine(text, queue("default", capability=amounts(**capability)), gang("a", min=2), *crew("a", 2))

    found = told(running)

    assert [blocker.plugin for blocker in found.blockers] == ["proportion"]
    assert {pod.reason for pod in found.pods} == {word}


def test_upstream_says_so_of_all_but_those_that_had_found_a_node() -> None:
    found = verdict(node("n1", cpu=1), gang("a", min=2), *crew("a", 2), mode="upstream")

    assert [pod.reason for pod in found.pods] == ["Schedulable", "Unschedulable"]


# ---------------------------------------------------------------------- phases


def test_the_phase_moves_on_with_the_verdict() -> None:
    running = engine(CONF, node("n1"), gang("a"), *crew("a", 1))
    phases = [told(running).phase, told(running, "a", *crew("a", 1, on="n1")).phase]
    phases.append(told(running, "a", *crew("a", 1, node="n1", phase="Succeeded")).phase)

    assert phases == ["Inqueue", "Running", "Completed"]


def test_upstream_counts_a_gated_member_as_one_that_could_run() -> None:
    facts = (
        node("n1", cpu=0.5),
        gang("a", min=2, rules=Rules(gated_count=True)),
        *crew("a", 1),
        task("g", "a", gates=("x",)),
    )

    assert [blocker.kind for blocker in verdict(*facts).blockers] == ["nodes", "gates"]
