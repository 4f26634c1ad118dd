"""Quantities, exactly, and what a pod takes of a node: by the documentation of Kubernetes, not by any scheduler.

A pod takes the greater of what its containers need together and what the start of any one of its init containers needs;
sidecars (init containers that are restarted always) run beside all that come after them. The pod's own request stands
for its containers' where it names a resource. Overhead comes on top, and every pod is one of `pods`.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tests.cluster.checker.events import Object

Amounts = Mapping[str, Fraction]
"""So much of each resource."""

NONE = Fraction(0)

SUFFIXES = {
    **{suffix: Fraction(10) ** power for suffix, power in zip(("n", "u", "m", ""), (-9, -6, -3, 0), strict=True)},
    **{suffix: Fraction(1000) ** power for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}

QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|(\D*))")


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """Read a quantity such as `100m`, `1.5Gi` or `2e3`."""
    parts = QUANTITY.fullmatch(text)
    if not parts or (parts[3] or "") not in SUFFIXES:
        raise ValueError(f"{text!r} is not a quantity")
    number, exponent, suffix = parts.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else SUFFIXES[suffix])


def amounts(given: Mapping[str, Any] | None) -> Amounts:
    """Read a list of resources."""
    return {name: quantity(str(value)) for name, value in (given or {}).items()}


def requests(container: Object) -> Amounts:
    """Give what a container, or a pod as a whole, requests by itself."""
    return amounts((container.get("resources") or {}).get("requests"))


def total(parts: Iterable[Amounts]) -> Amounts:
    """Add up."""
    sums: dict[str, Fraction] = {}
    for part in parts:
        for name, value in part.items():
            sums[name] = sums.get(name, NONE) + value
    return sums


def most(one: Amounts, other: Amounts) -> Amounts:
    """Take the greater of each."""
    return {name: max(one.get(name, NONE), other.get(name, NONE)) for name in {**one, **other}}


def taken(spec: Object) -> Amounts:
    """Say what a pod takes of its node."""
    beside: Amounts = {}
    start: Amounts = {}
    for container in spec.get("initContainers") or ():
        needs = total((beside, requests(container)))
        start = most(start, needs)
        if container.get("restartPolicy") == "Always":
            beside = needs
    running = total((beside, *map(requests, spec["containers"])))
    own = {**most(running, start), **requests(spec)}
    return total((own, amounts(spec.get("overhead")), {"pods": Fraction(1)}))
