"""An explanation in words: everything that the record says is there, and nothing twice."""

from typing import Any

from rich.console import Console

from posse.simulation.report.why import in_full, in_short, waiting

BLOCKER = {
    "kind": "nodes",
    "plugin": "predicates",
    "message": "no node takes it",
    "have": 3,
    "need": 4,
    "unit": "pods",
    "nodes": {"insufficient nvidia.com/gpu": 96, "untolerated taint gpu=true:NoSchedule": 1},
    "clauses": [{"clause": "nodeSelector pool=a100", "alone": 24, "so_far": 24}],
}
NODES = {"action": "add-nodes", "message": "2 more nodes like gpu-1", "patch": [], "remove": [], "verified": True}
FEWER = {
    "action": "lower-min",
    "message": "a minimum of 3",
    "patch": [{"kind": "Job", "metadata": {"name": "train", "namespace": "ns"}}],
    "remove": [{"kind": "Pod", "namespace": "ns", "name": "old"}],
    "verified": False,
}
EXPLANATION = {
    "state": "waiting",
    "summary": "waits for 2 more nodes like gpu-1",
    "blockers": [BLOCKER],
    "remedies": [NODES, FEWER],
    "searched": "cut",
    "last_eviction": {"time": "2026-01-01T00:00:00Z", "by": "ns/other", "action": "reclaim", "reason": "its share"},
    "position": {"queue": 3, "of": 17},
    "estimate": {"start": "2026-01-01T01:00:00Z", "basis": "declared run times"},
}


def record(**explanation: Any) -> dict[str, Any]:
    gang = {
        "dialect": "volcano",
        "queue": "q",
        "min": 4,
        "ready": 3,
        "members": 4,
        "nodes": {},
        "conditions": [],
        "explanation": {**EXPLANATION, **explanation},
    }
    return {"gangs": {"ns/train": gang}}


def told(parts: Any) -> str:
    console = Console(width=80, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def test_in_short_the_gang_is_the_subject_of_its_summary() -> None:
    assert told(in_short("ns/train", record())).splitlines() == [
        "ns/train (q) waits for 2 more nodes like gpu-1",
        "  · nodes: no node takes it (3 of 4 pods)",
        "    96 nodes: insufficient nvidia.com/gpu",
        "    1 node: untolerated taint gpu=true:NoSchedule",
        "  → a minimum of 3 (not tried)",
        "  → Expected to start at 2026-01-01T01:00:00Z, by declared run times.",
    ]


def test_one_is_counted_as_one() -> None:
    alone = record(blockers=[{**BLOCKER, "have": 0, "need": 1}])

    assert "(0 of 1 pod)" in told(in_short("ns/train", alone))


def test_gangs_that_wait_for_the_same_are_told_together() -> None:
    (gang,) = record()["gangs"].values()
    twins = {"gangs": {"ns/a": gang, "ns/b": gang}}

    assert told(waiting(twins)).splitlines()[2] == "ns/a (q; 1 more like it) waits for 2 more nodes like gpu-1"


def test_in_full_everything_is_told() -> None:
    assert told(in_full("ns/train", record())).splitlines() == [
        "ns/train waits for 2 more nodes like gpu-1",
        "waiting: 3 of 4 pods ready; queue q, volcano",
        "",
        "WHAT BLOCKS IT",
        "· nodes: no node takes it (3 of 4 pods)",
        "  96 nodes: insufficient nvidia.com/gpu",
        "  1 node: untolerated taint gpu=true:NoSchedule",
        "  the pod requires        nodes that have it  and all above",
        "  nodeSelector pool=a100                  24             24",
        "",
        "WHAT WOULD HELP",
        "→ 2 more nodes like gpu-1",
        "→ a minimum of 3 (not tried)",
        "  apply Job ns/train",
        "  remove Pod ns/old",
        "-o yaml gives the manifests.",
        "There may be more: the what-if runs are used up (--what-if-runs allows more).",
        "",
        "ITS PLACE",
        "Place 3 of 17 in the line of its queue.",
        "Expected to start at 2026-01-01T01:00:00Z, by declared run times.",
        "Last lost a member at 2026-01-01T00:00:00Z, to ns/other by reclaim: its share.",
    ]


def test_who_has_its_minimum_is_counted_by_all_its_members() -> None:
    running = record(state="running")
    running["gangs"]["ns/train"] |= {"min": 1, "ready": 2, "members": 4}

    assert told(in_full("ns/train", running)).splitlines()[1] == (
        "running: 2 of 4 pods ready, its minimum is 1; queue q, volcano"
    )


def test_of_many_names_the_first_is_told() -> None:
    patch = [{"kind": "Node", "metadata": {"name": f"gpu-{number}"}} for number in range(6000)]

    lines = told(in_full("ns/train", record(remedies=[{**NODES, "patch": patch}]))).splitlines()

    assert "  apply Node gpu-0 and 5,999 more" in lines


def test_who_runs_is_not_among_those_that_wait() -> None:
    assert list(waiting(record(state="running"))) == []


def test_a_long_line_says_how_many_it_leaves_out() -> None:
    (gang,) = record()["gangs"].values()
    many = {"gangs": {f"ns/g{number}": {**gang, "queue": f"q{number}"} for number in range(5)}}

    assert "and 3 more gangs" in told(waiting(many, limit=2))
