"""YAML as a tree that remembers its lines.

A configuration error must name the line it stands in, so the file is not loaded into plain objects but built, from
the parser's events, into a small immutable tree: `Scalar`, `Items` and `Table`, each with its line. A scalar keeps
its text beside its value, because a name may look like a number. Nothing in a hostile file may take the process down:
nesting and aliases are bounded here, and whatever is not YAML is an `InputError` with its line.
"""

from collections.abc import Iterator, Mapping

import yaml
from msgspec import Struct

from posse.errors import InputError, Place
from posse.scheduler.conf_scalars import Plain, plain_value

Value = Plain | tuple["Value", ...] | Mapping[str, "Value"]
"""What an argument can be: a plain value, a tuple of values, or a map of them."""

DEEPEST = 50
LARGEST = 10_000

_TAG = "tag:yaml.org,2002:"
_TAGGED: dict[str, tuple[type, ...]] = {
    _TAG + "bool": (bool,),
    _TAG + "int": (int,),
    _TAG + "float": (int, float),
    _TAG + "null": (type(None),),
}
_COLLECTION_TAGS = (None, "!", _TAG + "seq", _TAG + "map")


class Scalar(Struct, frozen=True):
    """One word: its value, and the text as written."""

    value: Plain
    text: str
    line: int

    def plain(self) -> Value:
        """The value."""
        return self.value

    def __str__(self) -> str:
        match self.value:
            case None:
                return "nothing"
            case bool():
                return f"the boolean {self.text}"
            case int() | float():
                return f"the number {self.text}"
            case _:
                return f"the text {self.text!r}"


class Items(Struct, frozen=True):
    """A list."""

    items: tuple["Node", ...]
    line: int

    def plain(self) -> Value:
        """The values of all items."""
        return tuple(item.plain() for item in self.items)

    def __str__(self) -> str:
        return "a list"


class Entry(Struct, frozen=True):
    """A key of a table, with what stands at it."""

    key: str
    value: "Node"
    line: int


class Table(Struct, frozen=True):
    """A mapping. A key may stand in it twice; then the later entry counts."""

    written: tuple[Entry, ...]
    line: int

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that count, one per key, in order of first mention."""
        return tuple({entry.key: entry for entry in self.written}.values())

    @property
    def repeated(self) -> tuple[Entry, ...]:
        """The entries whose key had been there before."""
        first = {entry.key: entry for entry in reversed(self.written)}
        return tuple(entry for entry in self.written if first[entry.key] is not entry)

    def get(self, key: str) -> "Node | None":
        """What stands at a key."""
        return next((entry.value for entry in reversed(self.written) if entry.key == key), None)

    def plain(self) -> Value:
        """The values by key."""
        return {entry.key: entry.value.plain() for entry in self.written}

    def __str__(self) -> str:
        return "a mapping"


Node = Scalar | Items | Table


class Document(Struct, frozen=True):
    """The first document of a text, if there is any, and the line in which a second one begins, else 0."""

    root: Node | None
    second: int = 0


def parse(text: str, *, file: str = "") -> Document:
    """Build the tree of a YAML text."""
    try:
        return _Builder(yaml.parse(text, Loader=yaml.SafeLoader), file).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = ": ".join(part for part in (error.context, error.problem) if part)
        accepted = "spaces for indentation, no tabs" if "'\\t'" in problem else ""
        raise InputError(f"not YAML: {problem}", place=Place(file=file, line=line), accepted=accepted) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"not YAML: character {error.character!r} is not allowed"
        raise InputError(message, place=Place(file=file, line=line)) from error
    except (ValueError, OverflowError) as error:  # the parser's own reading of escapes and version numbers
        raise InputError(f"not YAML: {error}", place=Place(file=file)) from error


class _Builder:
    """Builds nodes from parser events. `_size` counts aliases written out: a small text must not mean a huge tree."""

    def __init__(self, events: Iterator[yaml.Event], file: str) -> None:
        self._events = events
        self._file = file
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._size = 0

    def document(self) -> Document:
        """Build the first document."""
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return Document(None)
        root = self._node(next(self._events), 0)
        next(self._events)
        after = next(self._events)
        return Document(root, 0 if isinstance(after, yaml.StreamEndEvent) else _line(after))

    def _node(self, event: yaml.Event, depth: int) -> Node:
        if depth > DEEPEST:
            raise self._error(event, f"nested more than {DEEPEST} levels deep")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self._size
        self._grow(event, 1)
        node = self._fresh(event, depth)
        anchor = event.anchor if isinstance(event, yaml.NodeEvent) else None
        if anchor is not None:
            self._anchors[anchor] = (node, self._size - before)
        return node

    def _fresh(self, event: yaml.Event, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(self._scalar_value(event), event.value, _line(event))
        tag = getattr(event, "tag", None)
        if tag not in _COLLECTION_TAGS:
            raise self._error(event, f"the tag {tag} is not understood", "plain YAML without tags of its own")
        if isinstance(event, yaml.SequenceStartEvent):
            items = tuple(self._node(inner, depth + 1) for inner in self._until(yaml.SequenceEndEvent))
            return Items(items, _line(event))
        return Table(self._entries(depth), _line(event))

    def _entries(self, depth: int) -> tuple[Entry, ...]:
        written: list[Entry] = []
        merged: list[Entry] = []
        for event in self._until(yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                raise self._error(event, f"{key} cannot be a key", "text as keys")
            if key.text == "<<" and getattr(event, "style", None) is None:
                merged = [*self._merge(event, value), *merged]
            else:
                written.append(Entry(key.text, value, key.line))
        own = {entry.key for entry in written}
        inherited = {entry.key: entry for entry in merged if entry.key not in own}
        return (*inherited.values(), *written)

    def _merge(self, event: yaml.Event, value: Node) -> list[Entry]:
        """What a merge key brings; of several tables the first that has a key gives it."""
        tables = value.items if isinstance(value, Items) else (value,)
        brought: list[Entry] = []
        for table in reversed(tables):
            if not isinstance(table, Table):
                raise self._error(event, f"`<<` merges mappings, not {table}")
            brought.extend(table.entries)
        return brought

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        """The events up to the end of this collection; whoever asks builds one node from each."""
        while not isinstance(event := next(self._events), end):
            yield event

    def _scalar_value(self, event: yaml.ScalarEvent) -> Plain:
        if event.tag is None:
            return plain_value(event.value) if event.implicit[0] else str(event.value)
        if event.tag in ("!", _TAG + "str"):
            return str(event.value)
        value = plain_value(event.value)
        if isinstance(value, _TAGGED.get(event.tag, ())):
            return value
        raise self._error(
            event, f"the tag {event.tag} is not understood for {event.value!r}", "plain YAML without tags"
        )

    def _alias(self, event: yaml.AliasEvent) -> Node:
        if event.anchor not in self._anchors:
            raise self._error(event, f"the alias *{event.anchor} has no finished anchor before it")
        node, size = self._anchors[event.anchor]
        self._grow(event, size)
        return node

    def _grow(self, event: yaml.Event, size: int) -> None:
        self._size += size
        if self._size > LARGEST:
            raise self._error(event, f"more than {LARGEST} values, aliases counted as often as they are used")

    def _error(self, event: yaml.Event, message: str, accepted: str = "") -> InputError:
        return InputError(message, place=Place(file=self._file, line=_line(event)), accepted=accepted)


def _line(event: yaml.Event) -> int:
    mark: yaml.Mark | None = getattr(event, "start_mark", None)
    return mark.line + 1 if mark else 0
