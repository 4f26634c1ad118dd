"""Amounts of the model as people and manifests write them: `4`, `500m`, `16Gi`."""

from posse.kube import quantity
from posse.kube.quantity import Quantity

SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def number(resource: str, amount: int) -> int | float:
    """An amount in units of its resource, whole where it is whole."""
    unit = quantity.unit_of(resource)
    return amount / unit if amount % unit else amount // unit


def pods(count: int, does: str = "", do: str = "") -> str:
    """A number of pods, and what it does or they do: `1 pod waits`, `2 pods wait`."""
    return f"{count} {'pod' if count == 1 else 'pods'} {does if count == 1 else do}".rstrip()


def text(resource: str, amount: int) -> str:
    """An amount as a quantity."""
    if quantity.is_bytes(resource):
        power = 0
        while amount and amount % 1024 == 0 and power + 1 < len(SUFFIXES):
            amount, power = amount // 1024, power + 1
        return f"{amount}{SUFFIXES[power]}"
    unit = quantity.unit_of(resource)
    return f"{amount}m" if amount % unit else str(amount // unit)


def read(resource: str, given: Quantity) -> int:
    """A quantity as an amount."""
    return quantity.amount(resource, given)


def grain(resource: str) -> int:
    """The least by which amounts of a resource may differ: whole devices, else the unit of the model."""
    return quantity.unit_of(resource) if "/" in resource else 1


def part(resource: str, given: Quantity, parts: int, of: int) -> str:
    """So many of equal parts of a quantity, rounded up."""
    least = grain(resource)
    return text(resource, -(-read(resource, given) * parts // (of * least)) * least)
