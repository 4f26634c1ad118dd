"""Overlays: a mapping on top of another one that stays as it is.

A fork of something large changes little of it. Instead of copying a mapping of 100,000 objects it lays an overlay on
it: what is set or removed is kept here, everything else is looked up below. What lies below must not change while an
overlay on it is in use.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Overlay(MutableMapping[Key, Value], Generic[Key, Value]):
    """Changes to a mapping, without changing it."""

    def __init__(self, below: Mapping[Key, Value]) -> None:
        self._below = below
        self._set: dict[Key, Value] = {}
        self._removed: set[Key] = set()

    def __getitem__(self, key: Key) -> Value:
        if key in self._set:
            return self._set[key]
        if key in self._removed:
            raise KeyError(key)
        return self._below[key]

    def __setitem__(self, key: Key, value: Value) -> None:
        self._set[key] = value

    def __delitem__(self, key: Key) -> None:
        if key not in self:
            raise KeyError(key)
        self._set.pop(key, None)
        if key in self._below:
            self._removed.add(key)

    def __contains__(self, key: object) -> bool:
        return key in self._set or (key in self._below and key not in self._removed)

    def __iter__(self) -> Iterator[Key]:
        for key in self._below:
            if key in self._set or key not in self._removed:
                yield key
        for key in self._set:
            if key not in self._below:
                yield key

    def __len__(self) -> int:
        gone = sum(1 for key in self._removed if key not in self._set)
        return len(self._below) - gone + sum(1 for key in self._set if key not in self._below)
