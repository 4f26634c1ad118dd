"""Amounts that are shared out: fractions, and resources that may be absent, which is not the same as zero.

cpu and memory are always there; an absent other resource is read as none or as no limit, and each operation says which.
"""

from collections.abc import Iterable

from posse.cluster.facts import Amounts, TaskFact

from .cluster import CPU, MEMORY, PODS

Resources = dict[str, float]

SLACK = 0.1
"""Amounts closer than this are equal, and less than this is nothing."""


def resources(amounts: Amounts = ()) -> Resources:
    """Amounts as they are shared out."""
    return {CPU: 0.0, MEMORY: 0.0, **{name: float(value) for name, value in amounts}}


def total(parts: Iterable[Resources]) -> Resources:
    """Everything together."""
    result = resources()
    for part in parts:
        for name, value in part.items():
            result[name] = result.get(name, 0.0) + value
    return result


def requests(tasks: Iterable[TaskFact]) -> Resources:
    """What tasks ask for together."""
    return total(resources(task.shape.requests) for task in tasks)


def scaled(one: Resources, factor: float) -> Resources:
    """Every amount times a factor."""
    return {name: value * factor for name, value in one.items()}


def capped(one: Resources, limit: Resources, *, absent: float) -> Resources:
    """At most the limit; what the limit does not name is limited to `absent`."""
    return {name: min(value, limit.get(name, absent)) for name, value in one.items()}


def raised(one: Resources, floor: Resources) -> Resources:
    """At least the floor."""
    return {name: max(one.get(name, 0.0), floor.get(name, 0.0)) for name in {**one, **floor}}


def surplus(left: Resources, right: Resources) -> Resources:
    """What left has more than right. A resource without surplus is absent."""
    more = {name: left[name] - right.get(name, 0.0) for name in left if left[name] > right.get(name, 0.0)}
    return {**resources(), **more}


def within(left: Resources, right: Resources) -> bool:
    """Whether every amount is at most the other's, but for the slack."""
    return all(value - right.get(name, 0.0) < SLACK for name, value in left.items())


def within_for(left: Resources, right: Resources, asked: Resources) -> bool:
    """Whether every resource that is asked for is at most the other's, with no slack. Pods are not compared."""
    compared = [name for name, value in asked.items() if value > 0 and name != PODS]
    return all(left.get(name, 0.0) <= right.get(name, 0.0) for name in compared)


def is_nothing(one: Resources) -> bool:
    """Whether nothing is left but pods."""
    return all(value < SLACK for name, value in one.items() if name != PODS)


def dominant_share(part: Resources, whole: Resources) -> float:
    """The greatest share of any resource, pods included."""
    return max((part.get(name, 0.0) / value for name, value in whole.items() if value >= SLACK), default=0.0)
