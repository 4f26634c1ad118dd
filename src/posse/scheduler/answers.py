"""Answers: what other people's plugins give back, held against what was asked as it comes.

A wrong answer would be found out much later, in the middle of our own arithmetic, and look like a fault of ours. So
the methods of a plugin that does not come with Posse are wrapped: whatever it raises, and whatever it gives that is no
answer, becomes a message that names plugin, method, what came and what is accepted. Ours are not, and cost nothing.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from math import isfinite
from typing import Any

import numpy as np
from msgspec import Struct

from posse.cluster.verdict import Blocker
from posse.cluster.views import Task
from posse.errors import InputError, Place
from posse.scheduler.blame import accused
from posse.scheduler.placement.terms import Clause, Filter, FixedFilter, FixedScore, NormalisedScore, Score
from posse.scheduler.plugin import EXTENSION_POINTS, NOT_ASKED_IN_TURN, Opinion, Plugin, Shortfalls, Standing, Vote

Fits = Callable[[Plugin, Any, Any], bool]
"""Says of a plugin, what it was asked about, and its answer, whether that is one."""

LONGEST = 80
"""How many characters of a wrong answer are quoted."""


class Expected(Struct, frozen=True):
    """What counts as an answer, and how messages speak of it."""

    accepted: str
    fits: Fits


def guarded(plugin: Plugin) -> Plugin:
    """Hold a plugin to its answers."""
    for name in (*EXTENSION_POINTS, *NOT_ASKED_IN_TURN - {"overrides"}):
        if plugin.overrides(name):
            setattr(plugin, name, _guarded(plugin, name))
    return plugin


def _guarded(plugin: Plugin, name: str) -> Callable[..., Any]:
    method, expected = getattr(plugin, name), ANSWERS[name]() if name in ANSWERS else None
    place = Place(object=f"plugin {plugin.name}", field=name)

    @wraps(method)
    def asked(*about: Any, **more: Any) -> Any:
        try:
            answer = method(*about, **more)
        except InputError:
            raise
        except (Exception, SystemExit) as fault:
            raise accused(fault, (plugin,)) or InputError(f"raised {fault!r}", place=place) from fault
        if expected is not None and not expected.fits(plugin, about[0] if about else None, answer):
            raise InputError(f"gave {_quoted(answer)}", place=place, accepted=expected.accepted)
        return answer

    return asked


def _quoted(answer: object) -> str:
    text = f"{type(answer).__name__} {answer!r}" if answer is not None else "None"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


# ---------------------------------------------------------------------- kinds of answers


def _one_of(accepted: str, *kinds: type) -> Callable[[], Expected]:
    return lambda: Expected(accepted, lambda _plugin, _about, answer: isinstance(answer, kinds))


def _or_none(accepted: str, kind: type) -> Callable[[], Expected]:
    return _one_of(f"{accepted}, or None", kind, type(None))


def _is_reason(_plugin: Plugin, _about: object, answer: object) -> bool:
    return answer is None or (isinstance(answer, str) and answer != "")


def _is_number(_plugin: Plugin, _about: object, answer: object) -> bool:
    return isinstance(answer, int | float | np.integer | np.floating) and isfinite(answer)


def _key() -> Expected:
    """A key must sort among those that came before: it is compared with the first of them."""
    first: list[Any] = []

    def fits(_plugin: Plugin, _about: object, answer: Any) -> bool:
        try:
            sorts = answer == answer and isinstance(answer < (first or [answer])[0], bool | np.bool_)  # noqa: PLR0124
        except (TypeError, ValueError):
            return False
        if not first:
            first.append(answer)
        return bool(sorts)

    return Expected("a number, or a tuple of numbers or texts, of one form in each answer", fits)


def _one_each(_plugin: Plugin, about: Any, answer: object) -> bool:
    return isinstance(answer, Sequence | np.ndarray) and len(answer) == len(about)


def _room(_plugin: Plugin, _about: object, answer: object) -> bool:
    return answer is None or (isinstance(answer, np.ndarray) and answer.dtype.kind == "i" and answer.ndim == 1)


def _admitted(plugin: Plugin, about: Any, answer: Any) -> bool:
    return answer is None or (
        isinstance(answer, np.ndarray) and answer.dtype == np.bool_ and _one_each(plugin, about, answer)
    )


def _victims(_plugin: Plugin, _about: object, answer: object) -> bool:
    return answer is None or (isinstance(answer, Sequence) and all(isinstance(each, Task) for each in answer))


def _terms(kinds: Any) -> Fits:
    def fits(plugin: Plugin, _about: object, answer: object) -> bool:
        nodes = len(plugin.world.nodes)
        return isinstance(answer, list | tuple) and all(
            isinstance(each, kinds) and np.shape(_array_of(each, nodes)) == (nodes,) for each in answer
        )

    return fits


def _array_of(term: object, nodes: int) -> Any:
    """What a term says of each node row, if it says it at once."""
    match term:
        case FixedFilter():
            return term.codes
        case FixedScore():
            return term.points
        case NormalisedScore():
            return term.raw
        case Clause():
            return term.passes
        case _:
            return np.empty(nodes)


_TRUTH = _one_of("True or False", bool, np.bool_)
_BLOCKER = _or_none("a Blocker that says what is in the way", Blocker)
_VOTE = _one_of("Vote.PERMIT, Vote.ABSTAIN or Vote.REJECT", Vote)
_WHOLE = _one_of("a whole number", int, np.integer)
_VICTIMS = lambda: Expected("a list of tasks among the candidates, or None", _victims)  # noqa: E731
_MANY = lambda: Expected("a list or an array with one key for each that was asked about", _one_each)  # noqa: E731

ANSWERS: dict[str, Callable[[], Expected]] = {
    "wake_at": _or_none("a time in nanoseconds since the epoch", int),
    "queue_order": _key,
    "gang_order": _key,
    "gang_orders": _MANY,
    "subgang_order": _key,
    "task_order": _key,
    "task_orders": _MANY,
    "gang_valid": _BLOCKER,
    "gang_ready": _TRUTH,
    "subgang_ready": _TRUTH,
    "missing": _WHOLE,
    "shortfalls": _or_none("Shortfalls", Shortfalls),
    "gang_pipelined": _VOTE,
    "subgang_pipelined": _VOTE,
    "gang_starving": _TRUTH,
    "gang_enqueueable": _one_of("an Opinion: PERMIT, ABSTAIN, or Opinion(Vote.REJECT, Blocker(...))", Opinion),
    "gangs_enqueueable": lambda: Expected("an array of truth values, one for each gang, or None", _admitted),
    "all_enqueueable": _TRUTH,
    "queue_overused": _BLOCKER,
    "queue_allocatable": _BLOCKER,
    "queue_room": lambda: Expected("an array of whole numbers, one for each dimension, or None", _room),
    "queue_standing": _or_none("a Standing", Standing),
    "preemptable": _VICTIMS,
    "reclaimable": _VICTIMS,
    "evictable": _VICTIMS,
    "node_filter": lambda: Expected("None where the node will do, else a text that says why not", _is_reason),
    "node_score": lambda: Expected("a finite number", _is_number),
    "filters": lambda: Expected("a list of filters, those of nodes with one code for each node", _terms(Filter)),
    "scores": lambda: Expected("a list of scores, those of nodes with points for each node", _terms(Score)),
    "clauses": lambda: Expected("a list of clauses, each with one truth value for each node", _terms(Clause)),
}
"""By method. What is called only to be told something may give back anything."""
