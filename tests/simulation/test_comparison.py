"""Comparing two runs: only what differs is told, and always the first run's value first."""

from typing import Any

from posse.simulation.comparison import Side, compared


def gang(state: str = "running", **more: Any) -> dict[str, Any]:
    return {"queue": "q", "members": 1, "explanation": {"state": state}, **more}


def side(gangs: dict[str, Any] | None = None, started: dict[str, float] | None = None, **more: Any) -> Side:
    record = {
        "cycles": 1,
        "time": 0.0,
        "fixpoint": True,
        "binds": {},
        "evictions": [],
        "gangs": gangs or {},
        "queues": {},
        **more,
    }
    return Side(record, started or {})


def eviction(pod: str, by: str = "ns/g") -> dict[str, Any]:
    return {"pod": pod, "by": by, "action": "preempt", "node": "n", "reason": "", "cycle": 1}


def test_a_run_does_not_differ_from_itself() -> None:
    one = side({"ns/g": gang()}, {"ns/g": 3.0}, binds={"ns/p": "n"}, evictions=[eviction("ns/v")])

    result = compared(one, one)

    assert result["gangs"] == {}
    assert result["queues"] == {}
    assert result["evictions"] == {"only_first": [], "only_second": []}
    assert set(result["pods"].values()) == {0}


def test_a_gang_that_starts_at_another_time_is_told_with_both_times() -> None:
    one, other = side({"ns/g": gang()}, {"ns/g": 3.0}), side({"ns/g": gang()}, {"ns/g": 9.0})

    assert compared(one, other)["gangs"] == {
        "ns/g": {"queue": "q", "start": [3.0, 9.0], "state": ["running", "running"]}
    }


def test_a_gang_that_no_longer_starts_has_no_second_time() -> None:
    one, other = side({"ns/g": gang()}, {"ns/g": 3.0}), side({"ns/g": gang("waiting")})

    assert compared(one, other)["gangs"]["ns/g"]["start"] == [3.0, None]
    assert [run["started"] for run in compared(one, other)["runs"]] == [1, 0]


def test_queues_tell_the_figures_that_differ() -> None:
    queue = {"allocated": {"cpu": "4"}, "deserved": {}, "capability": {}, "share": 0.5, "state": "Open"}
    one, other = side(queues={"q": queue, "r": queue}), side(queues={"q": {**queue, "share": 1.0}, "r": queue})

    assert compared(one, other)["queues"] == {"q": {"share": [0.5, 1.0]}}


def test_evictions_are_counted_so_that_a_second_one_of_a_pod_is_seen() -> None:
    one, other = side(evictions=[eviction("ns/v")]), side(evictions=[eviction("ns/v"), eviction("ns/v")])

    assert compared(one, other)["evictions"] == {
        "only_first": [],
        "only_second": [{"pod": "ns/v", "by": "ns/g", "action": "preempt"}],
    }


def test_pods_are_counted_by_where_they_went() -> None:
    one = side(binds={"ns/a": "n1", "ns/b": "n1", "ns/c": "n1"})
    other = side(binds={"ns/a": "n1", "ns/b": "n2", "ns/d": "n1"})

    assert compared(one, other)["pods"] == {"only_first": 1, "only_second": 1, "other_node": 1}
