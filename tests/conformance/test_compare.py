"""The comparator: the recorded side agrees with itself, and every field notices a change."""

from collections.abc import Callable, Iterator
from copy import deepcopy

import pytest

from cases import Case, Json, load
from compare import DETAIL, FIELDS, MAIN, facts, wrong

GANG = {"scheduling.k8s.io/group-name": "g"}


def pod(name: str) -> Json:
    return {"kind": "Pod", "metadata": {"name": name, "annotations": GANG}, "spec": {}, "status": {"phase": "Pending"}}


def running(name: str, node: str) -> Json:
    return {**pod(name), "spec": {"nodeName": node}, "status": {"phase": "Running"}}


def node(name: str) -> Json:
    return {"kind": "Node", "metadata": {"name": name}}


def rack(name: str, *nodes: str) -> Json:
    members = [{"type": "Node", "selector": {"exactMatch": {"name": each}}} for each in nodes]
    return {"kind": "HyperNode", "metadata": {"name": name}, "spec": {"tier": 1, "members": members}}


OBJECTS = [
    *(node(name) for name in ("n0", "n1", "n2")),
    rack("r0", "n0", "n1"),
    rack("r1", "n2"),
    pod("a"),
    pod("b"),
    pod("waits"),
    *(running(name, "n1") for name in ("v", "w")),
]

ANSWER: Json = {
    "binds": {"default/a": "n0", "default/b": "n1"},
    "pipelined": {"default/waits": "n2"},
    "evictions": [{"pod": "default/w"}, {"pod": "default/v"}],
    "gangs": {
        "default/g": {
            "phase": "Running",
            "running": 2,
            "conditions": [{"type": "Scheduled", "status": "True", "reason": "ok", "message": "in our words"}],
        }
    },
    "pods": {"default/waits": {"reason": "Unschedulable", "nominatedNodeName": "n2"}},
    "queues": {"q": {"allocated": {"cpu": "4"}}},
    "devices": {"default/a": "0"},
}

EXPECT: Json = {
    "exact": ["binds", "pipelined", "evictions", "phases"],
    "bound": {"default/g": 2},
    "boundPods": {"default/g": ["default/a", "default/b"]},
    "boundNodes": {"default/g": {"n0": 1, "n1": 1}},
    "domains": {"default/g": {"1": "r0"}},
    "binds": {"default/a": "n0", "default/b": "n1"},
    "evictionsCount": 2,
    "evictedByGang": {"default/g": 2},
    "evictions": ["default/v", "default/w"],
    "evictionsInOrder": ["default/w", "default/v"],
    "pipelinedCount": {"default/g": 1},
    "pipelined": {"default/waits": "n2"},
    "gangs": {
        "default/g": {
            "phase": "Running",
            "running": 2,
            "conditions": [{"type": "Scheduled", "status": "True", "reason": "ok", "message": "in their words"}],
        }
    },
    "pods": {"default/waits": {"reason": "Unschedulable", "nominatedNodeName": "n2"}},
    "queues": {"q": {"cpu": "4"}},
    "devices": {"default/a": "0"},
}


def case(expect: Json = EXPECT) -> Case:
    return Case(id="made-up", family="made-up", question={"id": "made-up", "objects": OBJECTS}, expect=expect)


def wrong_fields(answer: Json, expect: Json = EXPECT) -> set[str]:
    return {fact.field for fact in wrong(case(expect), answer)}


def test_an_answer_that_says_what_was_recorded_agrees_in_every_field() -> None:
    assert wrong_fields(ANSWER) == set()
    assert {fact.field for fact in facts(case(), ANSWER)} == set(FIELDS) - {"evictedAlways"}


def other_node(answer: Json) -> None:
    answer["binds"]["default/b"] = "n2"


def one_bind_less(answer: Json) -> None:
    del answer["binds"]["default/b"]


def one_eviction_less(answer: Json) -> None:
    answer["evictions"].pop()


def other_order(answer: Json) -> None:
    answer["evictions"].reverse()


def nothing_promised(answer: Json) -> None:
    answer["pipelined"].clear()


def promised_elsewhere(answer: Json) -> None:
    answer["pipelined"]["default/waits"] = "n0"


def other_phase(answer: Json) -> None:
    answer["gangs"]["default/g"]["phase"] = "Inqueue"


def fewer_running(answer: Json) -> None:
    answer["gangs"]["default/g"]["running"] = 1


def condition_false(answer: Json) -> None:
    answer["gangs"]["default/g"]["conditions"][0]["status"] = "False"


def other_pod_words(answer: Json) -> None:
    answer["pods"]["default/waits"] = {"reason": "GangWaiting", "nominatedNodeName": "n1"}


def other_queue_room(answer: Json) -> None:
    answer["queues"]["q"]["allocated"]["cpu"] = "5"


def other_card(answer: Json) -> None:
    answer["devices"]["default/a"] = "1"


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (other_node, {"boundNodes", "domains", "binds"}),
        (one_bind_less, {"bound", "boundPods", "boundNodes", "binds"}),
        (one_eviction_less, {"evictionsCount", "evictedByGang", "evictions", "evictionsInOrder"}),
        (other_order, {"evictionsInOrder"}),
        (nothing_promised, {"pipelinedCount", "pipelined"}),
        (promised_elsewhere, {"pipelined"}),
        (other_phase, {"phase"}),
        (fewer_running, {"running"}),
        (condition_false, {"conditions"}),
        (other_pod_words, {"reason", "nominatedNodeName"}),
        (other_queue_room, {"queues"}),
        (other_card, {"devices"}),
    ],
)
def test_a_changed_answer_is_wrong_in_exactly_the_fields_that_tell_of_it(
    change: Callable[[Json], None], noticed: set[str]
) -> None:
    answer = deepcopy(ANSWER)
    change(answer)

    assert wrong_fields(answer) == noticed


def test_silence_is_as_wrong_as_a_wrong_word() -> None:
    silent = {fact.field for fact in facts(case(), {}) if fact.found is None}

    assert silent == {"phase", "running", "conditions", "reason", "nominatedNodeName", "queues", "devices"}
    assert silent <= wrong_fields({})


def test_an_error_is_wrong_whatever_fields_are_looked_at() -> None:
    found = wrong(case(), {"id": "made-up", "error": {"message": "no"}}, fields=["bound"])

    assert [fact.field for fact in found] == ["error"]


def test_only_the_fields_looked_at_count() -> None:
    answer = deepcopy(ANSWER)
    condition_false(answer)

    assert wrong(case(), answer, MAIN) == []
    assert [fact.field for fact in wrong(case(), answer, DETAIL)] == ["conditions"]


def test_where_a_field_varied_only_the_listed_entries_are_sure() -> None:
    varied = {"exact": [], "binds": {"default/a": "n0"}, "evictedAlways": ["default/w"]}

    with_more = {"binds": {"default/a": "n0", "default/b": "n2"}, "evictions": ["default/w", "default/v"]}
    with_others = {"binds": {"default/b": "n0"}, "evictions": ["default/v"]}

    assert wrong_fields(with_more, varied) == set()
    assert wrong_fields(with_others, varied) == {"binds", "evictedAlways"}


def recorded_in_full() -> Iterator[Case]:
    """Worlds whose record is complete enough to be read as an answer."""
    for each in load(["allocate-gang", "gang-evict-topology", "preempt", "deviceshare", "multi-cycle"]):
        if {"binds", "pipelined", "evictions"} <= set(each.expect["exact"]):
            yield each


def as_answer(expect: Json) -> Json:
    answer: Json = {key: expect[key] for key in ("binds", "pipelined", "gangs", "pods", "devices") if key in expect}
    answer["evictions"] = expect.get("evictionsInOrder", expect.get("evictions", []))
    answer["queues"] = {queue: {"allocated": amounts} for queue, amounts in expect.get("queues", {}).items()}
    return answer


def test_recorded_worlds_agree_with_themselves() -> None:
    worlds = list(recorded_in_full())

    assert len(worlds) > 20
    assert [each.id for each in worlds if wrong(each, as_answer(each.expect))] == []
