"""What an API server gives every object: a namespace, a name, a uid, a time of birth.

All that arrives together is named in one natural order (kind, namespace, name; digits compared as numbers), and uids of
pods count up. So wherever pods of one age are ordered by uid, they are ordered by namespace and name, whatever the
order of files and documents was.
"""

from collections.abc import Iterable, MutableMapping
from hashlib import blake2b

from msgspec import json, structs

from posse.cluster.ordering import natural
from posse.cluster.overlay import Overlay
from posse.errors import InputError, Place
from posse.kube.meta import DEFAULT_NAMESPACE, KubeObject, Metadata, group_of, rfc3339
from posse.kube.objects import Pod

Identity = tuple[str, str, str, str]
"""API group, kind, namespace, name."""


def identity_of(thing: KubeObject) -> Identity:
    """Which object this is, whatever its version."""
    meta = thing.metadata
    return group_of(thing.api_version), thing.kind_name, meta.namespace, meta.name


class Identities:
    """Gives names, uids and times to what has none, and gives an object that comes again those it had."""

    def __init__(self) -> None:
        self._births: MutableMapping[Identity, tuple[str, str]] = {}
        self._lives: MutableMapping[Identity, int] = {}
        """How often an object of this name is gone."""
        self._given = 0

    def register(self, things: Iterable[KubeObject], now: int) -> list[KubeObject]:
        """Complete what arrives together; the result is in natural order."""
        named = [self._named(thing) for thing in _unnamed_in_order(things)]
        named.sort(key=_natural_order)
        return [self._born(thing, now) for thing in named]

    def forget(self, identity: Identity) -> None:
        """An object is gone; the next one of its name is another."""
        if self._births.pop(identity, None) is not None:
            self._lives[identity] = self._lives.get(identity, 0) + 1

    def fork(self) -> "Identities":
        """A copy that goes on from here. This one must rest while it is in use."""
        other = Identities()
        other._births, other._lives = Overlay(self._births), Overlay(self._lives)
        other._given = self._given
        return other

    def _made_up(self, thing: KubeObject) -> str:
        """A uid for an object without one. Those of pods count up, because pods are ordered by them.

        That of another object does not depend on what else there is, so neither does what is named after it.
        """
        if thing.kind_name == Pod.KIND:
            return f"00000000-0000-4000-8000-{self._next():012d}"
        life = self._lives.get(identity_of(thing), 0)
        digest = blake2b(f"{identity_of(thing)}{life}".encode(), digest_size=6).hexdigest()
        return f"00000000-0000-4000-8000-{digest}"

    def _next(self) -> int:
        self._given += 1
        return self._given

    def _named(self, thing: KubeObject) -> KubeObject:
        meta = thing.metadata
        namespace = (meta.namespace or DEFAULT_NAMESPACE) if thing.NAMESPACED else ""
        if not meta.name and not meta.generate_name:
            place = Place(object=thing.kind_name, field="metadata.name")
            raise InputError("is missing", place=place, accepted="a name or a generateName")
        name = meta.name or f"{meta.generate_name}{self._next()}"
        if (name, namespace) == (meta.name, meta.namespace):
            return thing
        return structs.replace(thing, metadata=structs.replace(meta, name=name, namespace=namespace))

    def _born(self, thing: KubeObject, now: int) -> KubeObject:
        meta, identity = thing.metadata, identity_of(thing)
        known_uid, known_time = self._births.get(identity, ("", ""))
        if meta.uid and meta.uid != known_uid:
            known_time = ""
        uid = meta.uid or known_uid or self._made_up(thing)
        created = meta.creation_timestamp or known_time or rfc3339(now)
        self._births[identity] = (uid, created)
        if (uid, created) == (meta.uid, meta.creation_timestamp):
            return thing
        return structs.replace(thing, metadata=_completed(meta, uid, created))


def _unnamed_in_order(things: Iterable[KubeObject]) -> list[KubeObject]:
    """Objects that ask for a generated name are told apart by what they say, not by where they stood."""
    return sorted(things, key=lambda thing: b"" if thing.metadata.name else json.encode(thing, order="deterministic"))


def _completed(meta: Metadata, uid: str, created: str) -> Metadata:
    return structs.replace(meta, uid=uid, creation_timestamp=created)


def _natural_order(thing: KubeObject) -> tuple[object, ...]:
    meta = thing.metadata
    return thing.kind_name, thing.api_version, natural(meta.namespace), natural(meta.name)
