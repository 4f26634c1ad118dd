"""What a watch has told so far: identity, uid and version of each object, and nothing else of it.

This is what makes a second list as good as events that were missed: what is the same is not told again, and what is no
longer there is told as gone. An event about something older than what was told is not believed; a list is, whatever its
versions: they go back when somebody restores a backup.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from posse.errors import InputError, Place
from posse.kube.api.records import Record, Seen, Unreadable, Vanished
from posse.kube.decoding import convert
from posse.kube.meta import KubeObject

Name = tuple[str, str]
"""Namespace and name."""


class ObjectMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Who an object is, and which version of it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Head(Struct, frozen=True, gc=False):
    """What is looked at of every object, readable or not."""

    metadata: ObjectMeta = ObjectMeta()


_HEADS = msgspec.json.Decoder(Head)


def head_of(body: Raw) -> ObjectMeta:
    """Who an object is."""
    return _HEADS.decode(body).metadata


class Known:
    """The objects of one kind that were told."""

    def __init__(self, kind: type[KubeObject]) -> None:
        self._kind = kind
        self._told: dict[Name, tuple[str, str]] = {}
        self._listed: set[Name] | None = None

    def __len__(self) -> int:
        return len(self._told)

    def begin_list(self) -> None:
        """From now on everything that is there is seen once, until `end_list`."""
        self._listed = set()

    def end_list(self) -> list[Record]:
        """What was told and is not there any more."""
        listed, self._listed = self._listed or set(), None
        return [self._forget(name) for name in list(self._told) if name not in listed]

    def seen(self, head: ObjectMeta, body: Raw) -> Iterator[Record]:
        """An object as it is now."""
        name = (head.namespace, head.name)
        uid, version = self._told.get(name, ("", ""))
        if self._listed is not None:
            self._listed.add(name)
        elif older(head.resource_version, version):
            return
        if (uid, version) == (head.uid, head.resource_version):
            return
        if uid and uid != head.uid:
            yield self._forget(name)
        self._told[name] = (head.uid, head.resource_version)
        try:
            yield Seen(convert(body, self._kind, Place()), head.resource_version)
        except (InputError, RecursionError) as fault:
            yield Unreadable(self._kind, head.namespace, head.name, head.uid, str(fault) or "nested too deeply")

    def gone(self, head: ObjectMeta) -> Iterator[Record]:
        """An object that is no more. If another one has its name by now, that is not the one."""
        name = (head.namespace, head.name)
        if name in self._told and self._told[name][0] == head.uid:
            yield self._forget(name)

    def _forget(self, name: Name) -> Vanished:
        uid, _ = self._told.pop(name)
        return Vanished(self._kind, *name, uid)


def older(version: str, than: str) -> bool:
    """Whether a version comes before another one. Those that are no numbers cannot be compared."""
    return version.isdecimal() and than.isdecimal() and int(version) < int(than)
