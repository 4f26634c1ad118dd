"""Plain YAML words as values, and durations as nanoseconds, both by the rules that Volcano's files were written for.

Configuration files in use were read by a Go parser. Its idea of a plain word differs from Python's: `1e3` is a
number, `10:30` is not, `010` is eight, `y` and `off` are booleans. A brought file must mean here what it meant there.
"""

import re
from fractions import Fraction

Plain = bool | int | float | str | None

_WORDS: dict[str, Plain] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **{word: True for stem in ("y", "yes", "true", "on") for word in (stem, stem.capitalize(), stem.upper())},
    **{word: False for stem in ("n", "no", "false", "off") for word in (stem, stem.capitalize(), stem.upper())},
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}

_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

_DURATION = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}

_LONGEST_NUMBER = 400
_INT64 = range(-(2**63), 2**63)


def plain_value(word: str) -> Plain:
    """Read an unquoted word: nothing, a boolean, a number, or else the text itself."""
    if word in _WORDS:
        return _WORDS[word]
    digits = word.replace("_", "")
    if len(digits) > _LONGEST_NUMBER:
        return word
    whole = _whole_number(digits)
    if whole is not None:
        return whole
    number = float(digits) if _FLOAT.fullmatch(digits) else None
    return word if number is None or number in (float("inf"), float("-inf")) else number


def _whole_number(digits: str) -> int | None:
    """A whole number of 64 bits, in any base; a larger one is left to be a float."""
    match = _INTEGER.fullmatch(digits)
    if match is None:
        return None
    sign, *by_base = match.groups()
    number = next(int(part, base) for part, base in zip(by_base, _BASES, strict=True) if part is not None)
    number = -number if sign == "-" else number
    return number if number in _INT64 else None


def duration(text: str) -> int | None:
    """Read a duration such as `90s`, `1h30m` or `0.5s` as nanoseconds; None if it is none."""
    sign, unsigned = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if unsigned == "0":
        return 0
    parts = list(_DURATION.finditer(unsigned))
    if not parts or len(text) > _LONGEST_NUMBER or "".join(part.group() for part in parts) != unsigned:
        return None
    return sign * sum(int(Fraction(part[1].rstrip(".")) * _UNITS[part[2]]) for part in parts)
