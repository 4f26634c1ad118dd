"""What was seen of a cluster, event by event: the only thing that the checker judges by.

An event is what a watch told: when it came, and the object as it then was. Revisions are those of the store, one count
for all kinds, so they say what happened before what, whichever watch told it first; the time of arrival says how long
things stayed as they were. A *mark* is a word of whoever watched: the server was lost, the test asked for a deletion.

As lines of JSON, events outlive whoever wrote them: a last line that was broken off is left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

Object = Mapping[str, Any]
"""An object of the API, as it comes."""


class Kind(StrEnum):
    """What an event is about."""

    POD = "Pod"
    NODE = "Node"
    POD_GROUP = "PodGroup"
    MARK = "Mark"


class Type(StrEnum):
    """What happened."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"

    LOST = "LOST"
    """A watch cannot be had, from now on."""
    BACK = "BACK"
    """It can be had again, and what it missed has been told."""
    BLIND = "BLIND"
    """What happened to a kind between two revisions will never be known."""
    ASKED = "ASKED"
    """The test asked for what is named to be deleted."""
    STILL = "STILL"
    """Nobody can be expected to act, from now on."""
    MOVING = "MOVING"
    """They can again."""
    END = "END"
    """Up to now, everything was seen."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was seen."""

    at: float
    """When, by a clock that only goes forward, in seconds."""
    kind: Kind
    type: Type
    object: Object
    """The object; of a deleted one what it last was, at the revision of its deletion."""

    @property
    def revision(self) -> int:
        """When, by the store's count; a mark has none."""
        return revision(self.object) if self.kind != Kind.MARK else 0

    def line(self) -> str:
        """Write it as a line of JSON."""
        fields = {"at": self.at, "kind": self.kind, "type": self.type, "object": self.object}
        return json.dumps(fields, separators=(",", ":")) + "\n"


def mark(at: float, what: Type, **said: str | int) -> Event:
    """Make a mark."""
    return Event(at, Kind.MARK, what, said)


def revision(thing: Object) -> int:
    """Give the revision at which an object became what it is."""
    return int(thing["metadata"]["resourceVersion"])


def key(thing: Object) -> str:
    """Name an object among its kind: `namespace/name`, or `name`."""
    metadata = thing["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def write(path: Path, events: Iterable[Event]) -> None:
    """Write events to a file."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(event.line() for event in events)


def read(path: Path) -> Iterator[Event]:
    """Read events from a file, up to the end or to where its writer was broken off."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                return
            told = json.loads(line)
            yield Event(told["at"], Kind(told["kind"]), Type(told["type"]), told["object"])
