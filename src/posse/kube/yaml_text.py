"""YAML with JSON's types, document by document, each with the line it starts at.

A manifest means what the API server would understand: decimal numbers, booleans as kubectl reads them (`yes` and `on`
included), and everything else text. A date, `12:30:45` or `0777` keep the form in which they were written.

Aliases repeat what they name, and a few lines of them can mean more than any memory holds: what they unfold into is
counted before it is built.
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
MOST_REPEATED = 1_000_000
"""How many values a document's aliases may repeat."""


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
    number, has_aliases = 0, b"*" in text and b"&" in text
    try:
        loader = _Loader(text)
        while loader.check_node():
            number += 1
            node = loader.get_node()
            line = node.start_mark.line + 1 if node else 0
            if has_aliases:
                _bound(node)
            if node:
                _refuse_repeated_keys(node)
            yield number, line, loader.construct_document(node)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = Place(file=file, document=number or 1, line=mark.line + 1 if mark else 0)
        raise InputError(f"is not YAML: {fault.problem or fault.context}", place=place) from None
    except (yaml.YAMLError, ValueError, UnicodeError, RecursionError) as fault:
        reason = str(fault).splitlines()[0] if str(fault) else "nested too deeply"
        raise InputError(f"is not YAML: {reason}", place=Place(file=file, document=number or 1)) from None


def _bound(root: yaml.Node | None) -> None:
    """Refuse aliases that contain themselves, and those that repeat too much."""
    sizes: dict[int, int] = {}
    inside: set[int] = set()

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        if id(node) in inside:
            raise _refusal("an alias is part of what it names", node)
        inside.add(id(node))
        sizes[id(node)] = 1 + sum(map(size, _parts_of(node)))
        if sizes[id(node)] - len(sizes) > MOST_REPEATED:
            raise _refusal(f"aliases repeat more than {MOST_REPEATED:,} values", node)
        inside.remove(id(node))
        return sizes[id(node)]

    if root is not None:
        size(root)


def _refuse_repeated_keys(root: yaml.Node) -> None:
    """A key twice in one mapping is a slip: one of the two would be lost. What `<<` brings is no repetition."""
    todo, seen = [root], {id(root)}
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.MappingNode):
            keys = {key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
            if len(keys) < len(node.value):
                _refuse_second(node)
        fresh = [part for part in _parts_of(node) if id(part) not in seen and not isinstance(part, yaml.ScalarNode)]
        seen.update(map(id, fresh))
        todo += fresh


def _refuse_second(mapping: yaml.MappingNode) -> None:
    known: set[str] = set()
    for key, _ in mapping.value:
        if isinstance(key, yaml.ScalarNode) and key.value in known:
            raise _refusal(f"the key {key.value!r} stands here a second time", key)
        known.add(str(key.value))


def _parts_of(node: yaml.Node) -> Iterator[yaml.Node]:
    match node:
        case yaml.SequenceNode():
            yield from node.value
        case yaml.MappingNode():
            for pair in node.value:
                yield from pair


def _refusal(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
