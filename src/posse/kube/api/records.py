"""What a watch tells: small records, one for each thing that happened."""

from msgspec import Struct

from posse.kube.meta import KubeObject


class Seen(Struct, frozen=True, gc=False):
    """An object as it is now, in a version of it (its resourceVersion)."""

    object: KubeObject
    version: str = ""


class Vanished(Struct, frozen=True, gc=False):
    """An object that is no more, or that the selectors no longer mean."""

    kind: type[KubeObject]
    namespace: str
    name: str
    uid: str


class Unreadable(Struct, frozen=True, gc=False):
    """An object that is there, and that we cannot make sense of as it is now; not even of its name, if it has none."""

    kind: type[KubeObject]
    namespace: str
    name: str
    uid: str
    why: str


class Synced(Struct, frozen=True):
    """All that was there at one moment has been told. Comes again whenever the list had to be read anew."""

    kind: type[KubeObject]


class Interrupted(Struct, frozen=True):
    """For a while nothing will be told of what happens. It is tried again; nothing will have been missed."""

    kind: type[KubeObject]
    why: str


Record = Seen | Vanished | Unreadable | Synced | Interrupted
