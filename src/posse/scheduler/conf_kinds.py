"""The kinds an argument can have: what counts as one, and how messages speak of it.

They keep upstream's idea of a type: a whole number is written as one (`'5'` and `5.0` are none), a number may be whole,
a boolean may be quoted. A reader gives the value as its kind (a duration as nanoseconds), or None if it is not one.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Literal

from posse.scheduler.conf_scalars import duration
from posse.scheduler.conf_yaml import Value

Kind = Literal["int", "float", "bool", "str", "duration", "list", "mapping"]


def in_words(value: Value) -> str:
    """A value as a message names it."""
    match value:
        case None:
            return "no value"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value!r}"
        case tuple():
            return "a list"
        case _:
            return "a mapping"


def _read_int(value: Value) -> Value:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_float(value: Value) -> Value:
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return number if number is not None and isfinite(number) else None


def _read_bool(value: Value) -> Value:
    return _TRUTHS.get(value) if isinstance(value, str) else value if isinstance(value, bool) else None


def _read_str(value: Value) -> Value:
    return value if isinstance(value, str) else None


def _read_duration(value: Value) -> Value:
    return duration(value) if isinstance(value, str) else None


def _read_list(value: Value) -> Value:
    return value if isinstance(value, tuple) else None


def _read_mapping(value: Value) -> Value:
    return value if isinstance(value, Mapping) else None


_TRUTHS = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}

READERS: dict[Kind, Callable[[Value], Value]] = {
    "int": _read_int,
    "float": _read_float,
    "bool": _read_bool,
    "str": _read_str,
    "duration": _read_duration,
    "list": _read_list,
    "mapping": _read_mapping,
}

WORDING: dict[Kind, str] = {
    "int": "a whole number, not quoted",
    "float": "a number, not quoted",
    "bool": "true or false",
    "str": "a text; quote what looks like a number",
    "duration": "a duration such as 90s, 10m or 1h30m",
    "list": "a list",
    "mapping": "a mapping",
}
