"""Selectors as values: what labels must look like.

Kubernetes says "these pods" and "these nodes" with requirements on labels. Here a requirement is an immutable, hashable
value, so that it can be part of a shape (see `facts.Shape`) and two equal ones are one. Matching is plain Python over
one label map; whoever needs the answer for all nodes at once asks once per distinct label value and keeps the answer.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


class Requirement(Struct, frozen=True, gc=False):
    """One demand on one label. `values` is sorted; `Gt` and `Lt` carry exactly one integer as text."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a label map satisfies this demand. `NotIn` is satisfied by an absent label, as in Kubernetes."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return _compares(self.operator, value, self.values)

    def __str__(self) -> str:
        """The demand as kubectl writes it."""
        match self.operator:
            case "In" if len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
            case "In":
                return f"{self.key} in ({','.join(self.values)})"
            case "NotIn" if len(self.values) == 1:
                return f"{self.key}!={self.values[0]}"
            case "NotIn":
                return f"{self.key} notin ({','.join(self.values)})"
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "Gt":
                return f"{self.key}>{self.values[0]}"
            case "Lt":
                return f"{self.key}<{self.values[0]}"


def _compares(operator: str, value: str | None, values: tuple[str, ...]) -> bool:
    """`Gt` and `Lt` compare integers; anything that is not an integer never matches."""
    try:
        left, right = int(value or ""), int(values[0])
    except (ValueError, IndexError):
        return False
    return left > right if operator == "Gt" else left < right


class Selector(Struct, frozen=True, gc=False):
    """All requirements must hold. No requirement at all: every label map matches (Kubernetes' empty selector)."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a label map satisfies every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        """The selector as kubectl writes it."""
        return ",".join(map(str, self.requirements)) or "<everything>"


class NodeTerm(Struct, frozen=True, gc=False):
    """One node selector term: its expressions look at labels, its fields at `metadata.name`.

    An empty term matches no node.
    """

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the node of this name and labels satisfies all of the term."""
        if not self.expressions and not self.fields:
            return False
        field = {"metadata.name": name}
        return all(r.matches(labels) for r in self.expressions) and all(r.matches(field) for r in self.fields)

    def __str__(self) -> str:
        """The term as a person would write it."""
        return ",".join(map(str, (*self.expressions, *self.fields))) or "<nothing>"
