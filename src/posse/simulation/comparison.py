"""Two runs of one scenario side by side: what another configuration changes, and nothing that stays the same.

Only what differs is told. `[a, b]` is always the first run's value and the second's; a start of null is a gang that did
not start. Amounts, states and counts are those at the end of each run.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from posse.cluster.ordering import natural
from posse.simulation.gang_state import has_started, is_wanted, state_of
from posse.simulation.result import Record

FIGURES = ("allocated", "deserved", "share", "state")
"""What is compared of a queue."""


class Side(Struct, frozen=True):
    """A result, and when (in seconds since its start) each gang first had its minimum."""

    record: Record
    started: Mapping[str, float]


def compared(one: Side, other: Side) -> Record:
    """What differs between two runs, as one record of plain values."""
    return {
        "runs": [_in_figures(one.record), _in_figures(other.record)],
        "gangs": _gangs(one, other),
        "queues": _queues(one.record, other.record),
        "evictions": _evictions(one.record, other.record),
        "pods": _pods(one.record["binds"], other.record["binds"]),
    }


def _in_figures(record: Record) -> Record:
    present = [gang for gang in record["gangs"].values() if is_wanted(gang)]
    return {
        "cycles": record["cycles"],
        "time": record["time"],
        "fixpoint": record["fixpoint"],
        "gangs": len(present),
        "started": sum(map(has_started, present)),
        "bound": len(record["binds"]),
        "evicted": len(record["evictions"]),
    }


def _gangs(one: Side, other: Side) -> Record:
    """Gangs that start at another time, or stand otherwise in the end."""
    differing = {}
    for name in _names(one.record["gangs"], other.record["gangs"]):
        states = [_state(side, name) for side in (one, other)]
        starts = [side.started.get(name) for side in (one, other)]
        if states[0] != states[1] or starts[0] != starts[1]:
            gang = one.record["gangs"].get(name) or other.record["gangs"][name]
            differing[name] = {"queue": gang["queue"], "start": starts, "state": states}
    return differing


def _state(side: Side, name: str) -> str | None:
    gang = side.record["gangs"].get(name)
    return None if gang is None else state_of(gang)


def _queues(one: Record, other: Record) -> Record:
    differing: Record = {}
    for name in _names(one["queues"], other["queues"]):
        left, right = one["queues"].get(name, {}), other["queues"].get(name, {})
        pairs = {figure: [left.get(figure), right.get(figure)] for figure in FIGURES}
        figures = {figure: pair for figure, pair in pairs.items() if pair[0] != pair[1]}
        if figures:
            differing[name] = figures
    return differing


def _evictions(one: Record, other: Record) -> Record:
    """Evictions that only one of the runs made, as often as it made more of them."""
    left, right = _evicted(one), _evicted(other)
    return {"only_first": _told(left - right), "only_second": _told(right - left)}


def _evicted(record: Record) -> Counter[tuple[str, str, str]]:
    return Counter((each["pod"], each["by"], each["action"]) for each in record["evictions"])


def _told(evictions: Counter[tuple[str, str, str]]) -> list[dict[str, str]]:
    ordered = sorted(evictions.elements(), key=lambda each: tuple(map(natural, each)))
    return [{"pod": pod, "by": by, "action": action} for pod, by, action in ordered]


def _pods(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, int]:
    """How many pods only one of the runs bound, and how many both did, to other nodes."""
    return {
        "only_first": len(one.keys() - other.keys()),
        "only_second": len(other.keys() - one.keys()),
        "other_node": sum(other[pod] != node for pod, node in one.items() if pod in other),
    }


def _names(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return sorted({*one, *other}, key=natural)
