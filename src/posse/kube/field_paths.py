"""Field paths: the way to a field, as messages write it.

The decoder says of an entry of a map only that it is one of them (`requests[...]`). Which one it was is found by
decoding again with each of them alone.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
"""A field by its name, an element by its number, or some entry of a map."""
SOME_ENTRY = "..."

Way = tuple[str | int, ...]


def spelled_out(path: str, fault: str, body: Any, kind: type) -> str:
    """A path whose entries of maps are named; `fault` is the decoder's complaint about the body of a kind."""
    way: Way = ()
    written = "$"
    for name, number in STEP.findall(path):
        if number == SOME_ENTRY:
            key, body = _entry_at(way, fault, body, kind)
            way, written = (*way, key), f"{written}.{key}" if key else f"{written}[...]"
        else:
            way, written = (*way, name or int(number)), f"{written}.{name}" if name else f"{written}[{number}]"
    return written


def _entry_at(way: Way, fault: str, body: Any, kind: type) -> tuple[str, Any]:
    """The key of the entry that a complaint is about, and the body with that entry alone; an empty key: none is."""
    here = _at(body, way)
    for key, value in here.items() if isinstance(here, dict) else ():
        alone = _with(body, way, {key: value})
        try:
            msgspec.convert(alone, kind)
        except msgspec.ValidationError as again:
            if str(again) == fault:
                return key, alone
    return "", body


def _at(body: Any, way: Sequence[str | int]) -> Any:
    """What stands in a value at the end of a way."""
    try:
        for step in way:
            body = body[step]
    except (LookupError, TypeError):
        return None
    return body


def _with(body: Any, way: Way, part: Any) -> Any:
    """A value with another part at the end of a way."""
    if not way:
        return part
    step, *rest = way
    if isinstance(body, dict):
        return {**body, step: _with(body[step], tuple(rest), part)}
    return [_with(item, tuple(rest), part) if number == step else item for number, item in enumerate(body)]
