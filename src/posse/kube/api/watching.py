"""What happens to the objects of one kind, told in order, for ever.

    async for records in Watch(client, resource_of(Pod)).records():
        ...

First everything that is there, then `Synced`, then what changes. The server sends the first part as events too, if it
can (a streaming list); otherwise it is read page by page. From then on the watch remembers the version it has heard up
to, and a connection that ends, or falls silent (the server sends bookmarks at least every minute or so), is opened
again from there. If the server has forgotten that version (410), everything is listed anew, and only the difference is
told (`known`). So whoever listens ends up with what is there, whatever happened to connections and servers.

What cannot be had at all (no rights, no such kind) is an error as long as nothing was had; later it is waited out, for
a server that is starting refuses people whom it does not know yet.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from random import Random as Lots
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from posse.kube.api.answers import GONE, ApiError, LostError, refused_by, status_in
from posse.kube.api.backing_off import Backoff, Random
from posse.kube.api.client import LONGEST_WAIT, PAGE, ApiClient, query_of
from posse.kube.api.credentials import CredentialError
from posse.kube.api.known import Known, head_of, older
from posse.kube.api.records import Interrupted, Record, Synced, Unreadable
from posse.kube.api.resources import Resource

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
NOT_UNDERSTOOD = (400, 422)
"""How servers answer that have no streaming lists."""

GARBLED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoders say of text that no API server writes."""

Records = AsyncIterator[list[Record]]
"""As many at a time as have arrived."""


class Timing(Struct, frozen=True):
    """How patient a watch is, in seconds."""

    quiet: float = 90.0
    """A connection on which nothing comes for so long is given up. Bookmarks come every 75 seconds at the latest."""
    lifetime: float = 300.0
    """After how long the server shall end a connection, at least; up to twice that, by lot."""
    backoff: Backoff = Backoff()


class Selection(Struct, frozen=True):
    """Which objects of a kind: those of a namespace, those that selectors mean, or all."""

    namespace: str = ""
    fields: str = ""
    labels: str = ""


class _Event(Struct, frozen=True, gc=False):
    """One line of a watch."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: Raw


_EVENTS = msgspec.json.Decoder(_Event)


class Watch:
    """What happens to the objects of one kind. `known` of them are told now."""

    def __init__(
        self,
        client: ApiClient,
        resource: Resource,
        selection: Selection = Selection(),  # noqa: B008 - immutable
        *,
        timing: Timing = Timing(),  # noqa: B008 - immutable
        page: int = PAGE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._client = client
        self._kind = resource.kind
        self._path = resource.path(selection.namespace)
        self._selection = selection
        self._timing = timing
        self._page = page
        self._sleep = sleep
        self._random = random or Lots().random
        self._known = Known(resource.kind)
        self._version = ""
        self._streams_lists = True
        self._synced = False
        self._heard = False
        self._failures = 0

    @property
    def known(self) -> int:
        """How many objects are told to be there."""
        return len(self._known)

    async def records(self) -> Records:
        """Tell what happens. Ends only by an error before the first `Synced`, or by whoever listens."""
        while True:
            try:
                self._heard = False
                async for records in self._once():
                    if records:
                        yield records
                if not self._heard:
                    raise LostError(f"GET {self._path}: ended, and nothing was told")
            except (ApiError, LostError, CredentialError, *GARBLED) as fault:
                if self._lists_otherwise(fault):
                    continue
                if not self._synced and isinstance(fault, ApiError) and not (fault.passing or fault.expired):
                    raise
                yield [Interrupted(self._kind, str(fault))]
                await self._sleep(self._pause(fault))

    def _lists_otherwise(self, fault: Exception) -> bool:
        """Leave streaming lists alone if the server has none, or did not get to the end of one."""
        if self._version or not self._streams_lists:
            return False
        refused = isinstance(fault, ApiError) and fault.status in NOT_UNDERSTOOD
        cut_off = isinstance(fault, LostError) and fault.sent
        self._streams_lists = not (refused or cut_off)
        return refused

    def _pause(self, fault: Exception) -> float:
        """How long to wait after a fault; with a version that is forgotten, so that all is listed."""
        told = 0.0
        if isinstance(fault, ApiError):
            told = fault.retry_after
            if fault.expired and not self._version:
                self._page = 0  # it takes longer to read than the server remembers: all at once, then
            if fault.expired:
                self._version = ""
        self._failures += 1
        return min(max(told, self._timing.backoff.delay(self._failures - 1, self._random)), LONGEST_WAIT)

    async def _once(self) -> Records:
        """List if need be, then follow until the connection ends."""
        if self._version:
            async for records in self._follow(""):
                yield records
        elif self._streams_lists:
            self._known.begin_list()
            async for records in self._follow("true"):
                yield records
        else:
            async for records in self._list_pages():
                yield records

    async def _list_pages(self) -> Records:
        selection = self._selection
        self._known.begin_list()
        version = ""
        pages = self._client.list(self._path, fields=selection.fields, labels=selection.labels, limit=self._page)
        async for page in pages:
            version = page.version
            yield [record for item in page.items for record in self._known.seen(head_of(item), item)]
        self._heard, self._version = True, version
        yield self._all_listed()

    async def _follow(self, initial: str) -> Records:
        """One connection: with all that is there first (`initial`), or from the version that we have heard up to."""
        query = query_of(
            {
                "watch": "1",
                "allowWatchBookmarks": "true",
                "resourceVersion": self._version,
                "sendInitialEvents": initial,
                "resourceVersionMatch": "NotOlderThan" if initial else "",
                "timeoutSeconds": str(int(self._timing.lifetime * (1 + self._random()))),
                "fieldSelector": self._selection.fields,
                "labelSelector": self._selection.labels,
            }
        )
        async with self._client.stream(self._path + query, self._timing.quiet) as lines:
            async for some in lines:
                records: list[Record] = []
                fault = self._hear(some, records)
                yield records
                if fault:
                    raise fault
        if not self._version:
            raise LostError(f"GET {self._path}: ended before all was listed")

    def _hear(self, lines: list[bytes], records: list[Record]) -> Exception | None:
        """Take in some lines, up to the first that is wrong: what came before it is told all the same."""
        try:
            for line in lines:
                if line:
                    records += self._told_by(line)
        except (ApiError, *GARBLED) as fault:
            return fault
        return None

    def _told_by(self, line: bytes) -> Iterable[Record]:
        self._heard = True
        try:
            event = _EVENTS.decode(line)
        except RecursionError:  # then nobody can say whose it is
            return (Unreadable(self._kind, "", "", "", "nested too deeply"),)
        if event.type == "ERROR":
            raise refused_by(status_in(event.object))
        head = head_of(event.object)
        behind = older(head.resource_version, self._version)
        if behind and event.type == "BOOKMARK":
            raise ApiError(GONE, "Expired", "the server has gone back to an older version")  # to a backup, most likely
        if self._version and not behind:
            self._version, self._failures = head.resource_version, 0
        if event.type == "DELETED":
            return self._known.gone(head)
        if event.type != "BOOKMARK":
            return self._known.seen(head, event.object)
        if not self._version and (head.annotations or {}).get(INITIAL_EVENTS_END) == "true":
            self._version = head.resource_version
            return self._all_listed()
        return ()

    def _all_listed(self) -> list[Record]:
        self._synced = True
        return [*self._known.end_list(), Synced(self._kind)]
