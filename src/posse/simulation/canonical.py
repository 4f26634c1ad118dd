"""The one order of a manifest's keys, so that the same object is the same text however its author wrote it down."""

from typing import Any

FIRST = ("apiVersion", "kind", "metadata", "name", "namespace", "spec")
"""What people look for first; everything else follows by its name."""

PLACES = {key: place for place, key in enumerate(FIRST)}


def canonical(value: Any) -> Any:
    """A value of a manifest with its keys in order, at every depth. Lists keep theirs: there order has a meaning."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (PLACES.get(key, len(FIRST)), key))
        return {key: canonical(value[key]) for key in keys}
    return [canonical(each) for each in value] if isinstance(value, list | tuple) else value
