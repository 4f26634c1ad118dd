"""How a report says numbers, times and amounts: short, and the same everywhere."""

from collections.abc import Mapping, Sequence

from posse.kube.quantity import amount, is_bytes, unit_of

MOST_NAMED = 12
"""How many names stand in a row."""
GIB = 1 << 30
MIB = 1 << 20
BESIDES = ("pods", "ephemeral-storage")
"""Resources that are rarely what a queue or a node is about."""


def counted(number: int, thing: str) -> str:
    """A number of things: `1 pod`, `2 pods`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def some(names: Sequence[str]) -> str:
    """Names in a row; of many the first, and how many more: `gpu-0 and 5,999 more`."""
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{names[0]} and {len(names) - 1:,} more"


def span(seconds: float) -> str:
    """A length of time by its two largest units: `45s`, `2m 30s`, `3h 5m`, `2d 1h`."""
    if seconds < 60:
        return f"{seconds:.3g}s"
    whole = round(seconds)
    units = [("d", whole // 86_400), ("h", whole // 3_600 % 24), ("m", whole // 60 % 60), ("s", whole % 60)]
    first = next(place for place, (_, number) in enumerate(units) if number)
    return " ".join(f"{number}{unit}" for unit, number in units[first : first + 2] if number)


def places(nodes: Mapping[str, int]) -> str:
    """Where a gang's pods are: `gpu-1 ×2, gpu-2`."""
    return some([f"{node} ×{count}" if count > 1 else node for node, count in nodes.items()])


def listed(amounts: Mapping[str, str]) -> str:
    """Amounts in a row, without zeros and what is rarely the point: `cpu 4, memory 8Gi, gpu 2`."""
    numbers = {resource: measured(resource, quantity) for resource, quantity in amounts.items()}
    parts = [
        f"{short(name)} {said(name, number)}" for name, number in numbers.items() if number and name not in BESIDES
    ]
    return ", ".join(parts) or "-"


def short(resource: str) -> str:
    """A resource as a column names it: without its vendor."""
    return resource.rpartition("/")[2]


def measured(resource: str, quantity: str) -> float:
    """A quantity of a resource as a number: cores, devices, or bytes."""
    return amount(resource, quantity) / unit_of(resource)


def said(resource: str, number: float, scale: float | None = None) -> str:
    """A number of a resource for people: `1.5`, `12Gi`. Bytes take the unit that fits `scale` (else themselves)."""
    if not is_bytes(resource):
        return f"{number:.4g}" if number < 10_000 else f"{number:.0f}"
    large = (scale if scale is not None else number) >= GIB
    return f"{number / GIB:.4g}Gi" if large else f"{number / MIB:.4g}Mi"


def of(resource: str, used: float, total: float) -> str:
    """Used of total: `3/8`, `10/32Gi`."""
    if not is_bytes(resource):
        return f"{said(resource, used)}/{said(resource, total)}"
    return f"{said(resource, used, total)[:-2]}/{said(resource, total)}"
