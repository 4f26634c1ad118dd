"""Quantities: how Kubernetes writes amounts, and the exact integers they mean here.

`500m`, `0.5`, `5e-1` and `.5` are one amount. Everything is read exactly, as integers, and rounded up to the unit of
its resource, as Kubernetes does: bytes for whatever is measured in bytes, whole units for counts (`pods`,
`count/...`), milli units for all the rest (cpu, extended resources). So no two spellings of one amount ever differ,
and no sum drifts.

An amount that does not fit a signed 64-bit integer is refused; the columns of the model hold nothing larger. What is
added up over nodes, pods and gangs must be smaller by so much that the sums fit too (`countable`).
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from posse.errors import InputError, Place

Quantity = str | int | float
"""A quantity as manifests write it: text, or a bare number."""

Amount = tuple[str, int]

LARGEST = 2**63 - 1
MOST_COUNTABLE = 2**53
"""In model units: 8Pi of memory, nine trillion cpus. A thousand nodes or pods as large as that still add up."""
ACCEPTED = "a quantity such as 500m, 1.5, 4Gi or 2e3, not negative and below 2^63"

_FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))", re.ASCII)
_LONGEST = 64
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_HOPELESS_EXPONENT = 100

_WHOLE = frozenset(
    {
        "pods",
        "services",
        "services.loadbalancers",
        "services.nodeports",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
    }
)
_BYTES = frozenset({"memory", "storage", "ephemeral-storage"})


def is_bytes(resource: str) -> bool:
    """Whether a resource is measured in bytes. Quota names (`requests.memory`) mean what they limit."""
    name = resource.rpartition("/")[2] if resource.endswith("/requests.storage") else resource
    name = name.removeprefix("requests.").removeprefix("limits.")
    return name in _BYTES or name.startswith("hugepages-")


def is_count(resource: str) -> bool:
    """Whether a resource is counted in whole things."""
    return resource in _WHOLE or resource.startswith("count/") or resource.endswith("/persistentvolumeclaims")


@lru_cache(maxsize=4096)
def unit_of(resource: str) -> int:
    """How many model units make one: 1 for bytes and counts, 1000 for everything else."""
    return 1 if is_bytes(resource) or is_count(resource) else 1000


@lru_cache(maxsize=65536)
def parse(text: str, unit: int) -> int:
    """Read a quantity in model units, rounded up. Raise ValueError, saying what is wrong."""
    found = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if not found or not (found[2] or found[3]):
        raise ValueError(f"{text!r} is no quantity")
    sign, whole, fraction, _, exponent, suffix = found.groups()
    digits = int(whole + (fraction or "")) if whole or fraction else 0
    if digits == 0:
        return 0
    if sign == "-":
        raise ValueError(f"{text!r} is negative")
    power = int(exponent) if exponent else _DECIMAL.get(suffix, 0)
    power -= len(fraction or "")
    amount = _scaled(digits * unit << _BINARY.get(suffix, 0), power)
    if amount > LARGEST:
        raise ValueError(f"{text!r} is too large")
    return amount


def _scaled(digits: int, power: int) -> int:
    """`digits` times ten to `power`, rounded up; beyond all reason either way without computing it."""
    if power >= 0:
        return LARGEST + 1 if power > _HOPELESS_EXPONENT else int(digits * 10**power)
    return 1 if power < -_HOPELESS_EXPONENT - _LONGEST else -(-digits // 10**-power)


def amount(resource: str, quantity: Quantity) -> int:
    """Read the quantity of a resource in model units. Raise ValueError, saying what is wrong."""
    return parse(quantity if isinstance(quantity, str) else repr(quantity), unit_of(resource))


def amounts(quantities: Mapping[str, Quantity], owner: str, field: str) -> dict[str, int]:
    """Read a resource list, such as `requests`. `owner` and `field` say where it stands, for the error message."""
    read: dict[str, int] = {}
    for resource, quantity in quantities.items():
        try:
            read[resource] = amount(resource, quantity)
        except ValueError as fault:
            place = Place(object=owner, field=f"{field}.{resource}")
            raise InputError(str(fault), place=place, accepted=ACCEPTED) from None
    return read


def countable(totals: Mapping[str, int], owner: str, field: str) -> Mapping[str, int]:
    """Amounts of something that is added up with others. `owner` and `field` say where they stand, for the error."""
    for resource, value in totals.items():
        if value > MOST_COUNTABLE:
            most, place = format_amount(resource, MOST_COUNTABLE), Place(object=owner, field=field)
            message = (
                f"{format_amount(resource, value)} of {resource} in all is more than can be added up over a cluster"
            )
            raise InputError(message, place=place, accepted=f"at most {most} of {resource}")
    return totals


def in_order(totals: Mapping[str, int]) -> tuple[Amount, ...]:
    """Amounts as facts hold them: sorted by resource name."""
    return tuple(sorted(totals.items()))


def format_amount(resource: str, value: int) -> str:
    """Write an amount of model units the way Kubernetes writes it: `4`, `500m`, `4Gi`."""
    if is_bytes(resource):
        return _with_suffix(value, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
    unit = unit_of(resource)
    if value % unit:
        return f"{value}m"
    return _with_suffix(value // unit, 1000, ("", "k", "M", "G", "T", "P", "E"))


def format_amounts(values: Iterable[Amount]) -> dict[str, str]:
    """Write a resource list."""
    return {resource: format_amount(resource, value) for resource, value in values}


def _with_suffix(value: int, base: int, suffixes: tuple[str, ...]) -> str:
    """The shortest exact form: divided by the base as often as that leaves no rest."""
    step = 0
    while value and value % base == 0 and step < len(suffixes) - 1:
        value //= base
        step += 1
    return f"{value}{suffixes[step]}"
