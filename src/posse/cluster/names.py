"""Names to numbers: resource dimensions, and the rows that keys stand in.

Both are append-mostly and shared between a world and its forks until one of them changes its copy.
"""

from typing import Generic, TypeVar

from posse.cluster.facts import Amounts

CPU, MEMORY, PODS = 0, 1, 2
"""The dimensions every world has; all others follow as they are met."""


class Dimensions:
    """The resource names of one world, in the order of their first mention. A dimension never leaves."""

    def __init__(self, names: tuple[str, ...] = ("cpu", "memory", "pods")) -> None:
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int:
        """The dimension of a resource name, made if it is new."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number

    def known(self, name: str) -> int | None:
        """The dimension of a resource name, if anything ever mentioned it."""
        return self._numbers.get(name)

    def learn(self, amounts: Amounts) -> None:
        """Make a dimension for each resource mentioned."""
        for name, _ in amounts:
            self.number(name)

    def fork(self) -> "Dimensions":
        """An independent copy."""
        return Dimensions(tuple(self.names))


FactT = TypeVar("FactT")


class Register(Generic[FactT]):
    """Keys to rows, and the fact that stands in each row:

    None where something is only referred to, or where nothing stands.

    A freed row is used again, so rows say nothing about age; whatever needs an order sorts by what the facts say.
    """

    def __init__(self) -> None:
        self.facts: list[FactT | None] = []
        self.keys: list[str] = []
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._shared = False

    def __len__(self) -> int:
        return len(self.facts)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def find(self, key: str) -> int:
        """The row of a key, -1 if it has none."""
        return self._rows.get(key, -1)

    def rows(self) -> list[int]:
        """The rows in use, sorted by key."""
        return [self._rows[key] for key in sorted(self._rows)]

    def declared(self) -> list[int]:
        """The rows in which a fact stands, sorted by key."""
        return [row for row in self.rows() if self.facts[row] is not None]

    def add(self, key: str) -> int:
        """The row of a key, made (without a fact) if it is new."""
        row = self._rows.get(key)
        if row is None:
            self._own()
            if self._free:
                row = self._free.pop()
                self.keys[row] = key
            else:
                row = len(self.facts)
                self.facts.append(None)
                self.keys.append(key)
            self._rows[key] = row
        return row

    def put(self, row: int, fact: FactT | None) -> None:
        """Let a fact stand in a row, or none."""
        self._own()
        self.facts[row] = fact

    def release(self, row: int) -> None:
        """Forget a key; its row may be used again."""
        self._own()
        del self._rows[self.keys[row]]
        self.keys[row] = ""
        self.facts[row] = None
        self._free.append(row)

    def fork(self) -> "Register[FactT]":
        """A copy that shares everything until either side changes."""
        other: Register[FactT] = Register()
        other.facts, other.keys, other._rows, other._free = self.facts, self.keys, self._rows, self._free
        self._shared = other._shared = True
        return other

    def _own(self) -> None:
        if self._shared:
            self.facts, self.keys = list(self.facts), list(self.keys)
            self._rows, self._free = dict(self._rows), list(self._free)
            self._shared = False
