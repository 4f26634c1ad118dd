"""YAML with JSON's types, document by document, each with the line it starts at.

A manifest means what the API server would understand: decimal numbers, booleans as kubectl reads them (`yes` and `on`
included), and everything else text. A date, `12:30:45` or `0777` keep the form in which they were written.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from posse.errors import InputError, Place

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # without the C library: slower, and the same result
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]


MOST_DIGITS = 1000


class _Loader(_BaseLoader):
    """Knows null, booleans, decimal numbers and merge keys, and nothing else that is not quoted."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own hook


_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool",
    re.compile(r"(?:true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$"),
    list("tTfFyYnNoO"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)$", re.ASCII), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"[-+]?(?:(?:0|[1-9][0-9]*)\.[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|(?:0|[1-9][0-9]*)[eE][-+]?[0-9]+)$",
        re.ASCII,
    ),
    list("-+.0123456789"),
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<$"), ["<"])


def _whole_number(loader: Any, node: yaml.ScalarNode) -> Any:
    """A whole number, unless it has more digits than any amount of anything."""
    if len(node.value) > MOST_DIGITS:
        raise yaml.constructor.ConstructorError(
            problem=f"a number of {len(node.value):,} digits", problem_mark=node.start_mark
        )
    return loader.construct_yaml_int(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)


def documents(text: bytes, file: str = "") -> Iterator[tuple[int, int, Any]]:
    """The documents of a text: number from 1, first line, and value."""
    number = 0
    try:
        loader = _Loader(text)
        while loader.check_node():
            number += 1
            node = loader.get_node()
            line = node.start_mark.line + 1 if node else 0
            yield number, line, loader.construct_document(node)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = Place(file=file, document=number or 1, line=mark.line + 1 if mark else 0)
        raise InputError(f"is not YAML: {fault.problem or fault.context}", place=place) from None
    except (yaml.YAMLError, ValueError, UnicodeError, RecursionError) as fault:
        reason = str(fault).splitlines()[0] if str(fault) else "nested too deeply"
        raise InputError(f"is not YAML: {reason}", place=Place(file=file, document=number or 1)) from None
