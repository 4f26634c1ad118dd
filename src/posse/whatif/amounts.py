"""Amounts of the model as people and manifests write them: `4`, `500m`, `16Gi`."""

IN_BYTES = ("memory", "storage", "ephemeral-storage", "hugepages-")
"""How the names of resources begin that are measured in bytes."""
WHOLE = ("pods", "count/", "services", "secrets", "configmaps", "persistentvolumeclaims")
"""How the names of what is counted in whole things begin."""
SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def bare(resource: str) -> str:
    """A resource's name without what makes it a quota's."""
    return resource.removeprefix("requests.").removeprefix("limits.")


def unit_of(resource: str) -> int:
    """How many model units make one."""
    return 1 if bare(resource).startswith((*IN_BYTES, *WHOLE)) else 1000


def number(resource: str, amount: int) -> int | float:
    """An amount in units of its resource, whole where it is whole."""
    unit = unit_of(resource)
    return amount / unit if amount % unit else amount // unit


def text(resource: str, amount: int) -> str:
    """An amount as a quantity."""
    if bare(resource).startswith(IN_BYTES):
        power = 0
        while amount and amount % 1024 == 0 and power + 1 < len(SUFFIXES):
            amount, power = amount // 1024, power + 1
        return f"{amount}{SUFFIXES[power]}"
    unit = unit_of(resource)
    return f"{amount}m" if amount % unit else str(amount // unit)
