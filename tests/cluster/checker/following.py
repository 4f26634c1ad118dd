"""Following the objects of one kind: listed once, watched from there, and again, whatever becomes of the server.

A watch goes on from the last revision it was told. If the server has forgotten that one, what was missed is read back
from the store (`missed`); where that has forgotten too, the gap is marked, and the rules judge by nothing in it.
"""

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Event as Flag
from threading import Thread
from urllib.parse import urlencode

from tests.cluster.checker.events import Kind, Object, Type, key, revision
from tests.cluster.checker.missed import Version, between
from tests.cluster.checker.streaming import Stream, WatchingClient
from tests.cluster.client import RefusedError

PATHS = {
    Kind.NODE: "/api/v1/nodes",
    Kind.POD_GROUP: "/apis/scheduling.volcano.sh/v1beta1/podgroups",
    Kind.POD: "/api/v1/pods",
}
"""What is followed. Pods come last, so that whatever they may be bound to was there before them."""

RETRY = 0.05
"""Seconds from one attempt to the next."""

Tell = Callable[[Kind, Type, Object], None]
"""Where what was seen goes to."""


@dataclass(slots=True)
class Known:
    """What is known of a kind."""

    objects: dict[str, Object]
    """The objects that exist, by key."""
    upto: int = 0
    """The revision up to which everything was told."""


class Follower:
    """Follows the objects of a kind, in a thread of its own."""

    def __init__(self, client: WatchingClient, kind: Kind, tell: Tell) -> None:
        self.kind = kind
        self._client, self._tell, self._path = client, tell, PATHS[kind]
        self._known = Known({})
        self._behind = self._lost = False
        self._stream: Stream | None = None
        self._stopping = Flag()
        self._thread = Thread(target=self._run, name=f"follow {kind}", daemon=True)

    def start(self) -> None:
        """Tell what is there, and follow it from now on."""
        self.take_in()
        self._thread.start()

    def stop(self) -> None:
        """Stop following."""
        self._stopping.set()
        if stream := self._stream:
            stream.hang_up()
        if self._thread.is_alive():
            self._thread.join()

    def take_in(self) -> None:
        """Tell what is there. A kind that is not served yet may be later."""
        try:
            self._known.upto, listed = self._list()
        except RefusedError as refusal:
            if refusal.code != http.client.NOT_FOUND:
                raise
            self._behind, listed = True, {}
        for thing in listed.values():
            self._happened(Type.ADDED, thing)

    def has_seen_all(self) -> bool:
        """Whether everything was told that is so by now."""
        try:
            upto, listed = self._list()
        except RefusedError as refusal:
            return refusal.code == http.client.NOT_FOUND
        except (OSError, http.client.HTTPException):
            return False
        known = dict(self._known.objects)
        missing = any(name not in known or revision(known[name]) < revision(it) for name, it in listed.items())
        return not missing and all(name in listed or revision(it) > upto for name, it in known.items())

    def catch_up(self) -> None:
        """Tell what a watch missed, in the order in which it happened."""
        after, known = self._known.upto, self._known.objects
        upto, listed = self._list()
        missed: list[tuple[int, str, Object | None]] = []
        blind = False
        for name in {**known, **listed}:
            old, new = known.get(name), listed.get(name)
            try:
                versions = list(between(partial(self._read, name), after, old, upto, new))
            except RefusedError as refusal:
                if refusal.code != http.client.GONE:
                    raise
                blind, versions = True, leap(after, old, new)
            missed += [(at, name, version) for at, version in versions]
        if blind:
            self._tell(Kind.MARK, Type.BLIND, {"kind": self.kind, "after": after, "until": upto})
        for at, name, version in sorted(missed, key=lambda it: it[:2]):
            self._became(at, name, version)
        self._known.upto, self._behind = upto, False
        if self._lost:
            self._lost = False
            self._tell(Kind.MARK, Type.BACK, {"kind": self.kind})

    def _run(self) -> None:
        while not self._stopping.wait(RETRY):
            try:
                if self._behind:
                    self.catch_up()
                self._watch()
            except (OSError, http.client.HTTPException, RefusedError) as reason:
                self._behind = True
                if not self._lost and not self._stopping.is_set():
                    self._lost = True
                    self._tell(Kind.MARK, Type.LOST, {"kind": self.kind, "reason": str(reason)})

    def _watch(self) -> None:
        """Tell what a watch tells, until it ends."""
        since = {"watch": 1, "resourceVersion": self._known.upto, "allowWatchBookmarks": "true"}
        with self._client.stream(f"{self._path}?{urlencode(since)}") as self._stream:
            for line in () if self._stopping.is_set() else self._stream:
                told = json.loads(line)
                if told["type"] == "ERROR":  # it has forgotten, as a rule; to list anew is right in any case
                    self._behind = True
                    return
                if told["type"] != "BOOKMARK":
                    self._happened(Type(told["type"]), told["object"])
                self._known.upto = revision(told["object"])

    def _became(self, at: int, name: str, version: Object | None) -> None:
        """Tell one version of an object."""
        old = self._known.objects.get(name)
        if version is not None:
            self._happened(Type.MODIFIED if old else Type.ADDED, version)
        elif old is not None:
            self._happened(Type.DELETED, {**old, "metadata": {**old["metadata"], "resourceVersion": str(at)}})

    def _happened(self, what: Type, thing: Object) -> None:
        if what == Type.DELETED:
            self._known.objects.pop(key(thing), None)
        else:
            self._known.objects[key(thing)] = thing
        self._tell(self.kind, what, thing)

    def _list(self) -> tuple[int, dict[str, Object]]:
        """List what there is, as of now: no cache answers this."""
        told = self._client.get(self._path)
        return revision(told), {key(it): it for it in told["items"]}

    def _read(self, name: str, at: int) -> Object | None:
        """Read an object as it was at a revision."""
        namespace, _, own = name.rpartition("/")
        place = self._path.rpartition("/")
        path = f"{place[0]}/namespaces/{namespace}/{place[2]}" if namespace else self._path
        exact = {"fieldSelector": f"metadata.name={own}", "resourceVersion": at, "resourceVersionMatch": "Exact"}
        items: list[Object] = self._client.get(f"{path}?{urlencode(exact)}")["items"]
        return items[0] if items else None


def leap(after: int, old: Object | None, new: Object | None) -> list[Version]:
    """Give what can be said of a gap from its ends alone. What went may have gone at once."""
    if old and new and old["metadata"]["uid"] == new["metadata"]["uid"]:
        return [(revision(new), new)] if revision(new) != revision(old) else []
    gone: list[Version] = [(after + 1, None)] if old else []
    return [*gone, (revision(new), new)] if new else gone
