"""Selectors of manifests as selectors of the model, checked on the way.

Equal demands become equal values whatever the order they were written in, so that equal pods share a shape.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from posse.cluster.selectors import NodeTerm, Operator, Requirement, Selector
from posse.errors import InputError, Place
from posse.kube.meta import LabelRequirement, LabelSelector
from posse.kube.pods import NodeSelectorTerm

OF_LABELS = ("In", "NotIn", "Exists", "DoesNotExist")
OF_NODES = (*OF_LABELS, "Gt", "Lt")


def equals(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    """Demand exactly these labels."""
    return tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))


def selector_of(selector: LabelSelector | None, place: Place, more: Iterable[Requirement] = ()) -> Selector | None:
    """A label selector, with further demands. An absent one stays absent: it selects nothing in any case."""
    if selector is None:
        return None
    expressions = _requirements(selector.match_expressions, OF_LABELS, place)
    return Selector(_in_order((*equals(selector.match_labels), *expressions, *more)))


def node_term(term: NodeSelectorTerm, place: Place) -> NodeTerm:
    """One term of a node selector."""
    expressions = _requirements(term.match_expressions, OF_NODES, place)
    fields = _requirements(term.match_fields, ("In", "NotIn"), place)
    for field in fields:
        if field.key != "metadata.name":
            raise InputError(f"{field.key!r} is no field of a node to select by", place=place, accepted="metadata.name")
    return NodeTerm(_in_order(expressions), _in_order(fields))


def _in_order(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    return tuple(sorted(set(requirements), key=lambda one: (one.key, one.operator, one.values)))


def _requirements(
    expressions: Iterable[LabelRequirement], operators: tuple[str, ...], place: Place
) -> tuple[Requirement, ...]:
    return tuple(_requirement(expression, operators, place) for expression in expressions)


def _requirement(expression: LabelRequirement, operators: tuple[str, ...], place: Place) -> Requirement:
    operator, values = expression.operator, expression.values
    if operator not in operators:
        raise InputError(f"unknown operator {operator!r}", place=place, accepted=", ".join(operators))
    wrong = ""
    if operator in ("In", "NotIn") and not values:
        wrong = "one value or more"
    elif operator in ("Exists", "DoesNotExist") and values:
        wrong = "no values"
    elif operator in ("Gt", "Lt") and not (len(values) == 1 and _is_integer(values[0])):
        wrong = "one value, a whole number"
    if wrong:
        message = f"operator {operator} on {expression.key!r} cannot have the values {list(values)}"
        raise InputError(message, place=place, accepted=wrong)
    return Requirement(expression.key, cast(Operator, operator), tuple(sorted(set(values))))


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()
