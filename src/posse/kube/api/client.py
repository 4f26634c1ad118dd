"""Requests to an API server: bytes in, bytes out, refusals as typed errors, and patience where it is safe.

A request is sent again only if that cannot do harm: it surely was not processed (the connection never stood, or the
server was too busy to look at it), or doing it twice is the same as once (`repeat`, which reading is and which callers
may say of what they write). In between it waits, longer each time, and as long as the server asks for. A server that is
too busy for one request is too busy for all, so then everybody waits.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from random import Random as Lots
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Raw, Struct

from posse.kube.api.answers import ERRORS, UNAUTHORIZED, Answer, ApiError, LostError, refusal
from posse.kube.api.backing_off import Backoff, Random
from posse.kube.api.credentials import Clock, Credential
from posse.kube.api.server import Access
from posse.kube.api.transport import HttpTransport, Lines, Transport

Sleep = Callable[[float], Awaitable[None]]

DEADLINE = 30.0
"""Seconds for one attempt. An API server gives up after 60, or 34 for what changes something."""
PAGE = 500
"""Objects in one answer to a list, as kubectl has it."""
LONGEST_WAIT = 60.0
"""Seconds that we wait at most because a server says so."""

JSON = "application/json"

BINDING = (
    b'{"apiVersion":"v1","kind":"Binding","metadata":{"name":%b,"uid":%b},'
    b'"target":{"apiVersion":"v1","kind":"Node","name":%b}}'
)
EVICTION = (
    b'{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%b,"namespace":%b},'
    b'"deleteOptions":{"preconditions":{"uid":%b}%b}}'
)


class Patch(StrEnum):
    """The ways to say what shall be different."""

    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    JSON = "application/json-patch+json"
    APPLY = "application/apply-patch+yaml"


class Page(Struct, frozen=True):
    """A part of a list. `version` is that of the whole list; `more` is empty in the last page."""

    version: str
    items: list[Raw]
    more: str = ""


class _ListMeta(Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(Struct, frozen=True):
    metadata: _ListMeta = _ListMeta()
    items: list[Raw] | None = None


_PAGES = msgspec.json.Decoder(_List)


class ApiClient:
    """One user of one API server. A context: its connections are closed at the end."""

    def __init__(
        self,
        access: Access,
        transport: Transport | None = None,
        *,
        deadline: float = DEADLINE,
        backoff: Backoff = Backoff(),  # noqa: B008 - immutable
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._credentials = access.credentials
        self._transport = transport or HttpTransport(access)
        self._deadline = deadline
        self._backoff = backoff
        self._clock = clock
        self._sleep = sleep
        self._random = random or Lots().random
        self._closed_until = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    # what one can ask for

    async def get(self, path: str, *, accept: str = JSON, deadline: float | None = None) -> bytes:
        """Read an object, or whatever else there is to read."""
        return await self.request("GET", path, accept=accept, deadline=deadline, repeat=True)

    async def list(
        self, path: str, *, fields: str = "", labels: str = "", limit: int = PAGE, accept: str = JSON
    ) -> AsyncIterator[Page]:
        """Read a list page by page, all of it as of one moment; `limit` 0 is a single page.

        Raise ApiError 410 (`expired`) if the rest of that moment is forgotten by now. What was read then is no whole
        list; whoever needs one starts again.
        """
        asked = {"fieldSelector": fields, "labelSelector": labels, "limit": str(limit) if limit else ""}
        more = ""
        while True:
            query = query_of({**asked, "continue": more})
            answer = _PAGES.decode(await self.get(path + query, accept=accept))
            more = answer.metadata.continue_
            yield Page(answer.metadata.resource_version, answer.items or [], more)
            if not more:
                return

    async def create(self, path: str, body: bytes, *, repeat: bool = False) -> bytes:
        """Create an object in a collection, or a subresource of an object."""
        return await self.request("POST", path, body, repeat=repeat)

    async def replace(self, path: str, body: bytes, *, repeat: bool = False) -> bytes:
        """Write all of an object. With a resourceVersion in it, only if that is still the last."""
        return await self.request("PUT", path, body, repeat=repeat)

    async def patch(
        self, path: str, body: bytes, kind: Patch = Patch.MERGE, *, manager: str = "posse", repeat: bool = False
    ) -> bytes:
        """Write what shall be different. A merge patch says the same however often it is said: it may `repeat`."""
        return await self.request("PATCH", path + query_of({"fieldManager": manager}), body, kind, repeat=repeat)

    async def apply(self, path: str, body: bytes, *, manager: str, force: bool = False) -> bytes:
        """Write the fields we care for, as their owner; make the object if it is not there (server-side apply)."""
        query = query_of({"fieldManager": manager, "force": "true" if force else ""})
        return await self.request("PATCH", path + query, body, Patch.APPLY, repeat=True)

    async def delete(
        self, path: str, *, uid: str = "", version: str = "", grace: int | None = None, propagation: str = ""
    ) -> bytes:
        """Delete an object, or all that a collection holds; with `uid` or `version`, only if it is the one we mean.

        With a uid it is sent again where need be, and then NotFound or Conflict may tell of our own success.
        """
        preconditions = {"uid": uid, "resourceVersion": version}
        options = {
            "preconditions": {name: value for name, value in preconditions.items() if value},
            "gracePeriodSeconds": grace,
            "propagationPolicy": propagation,
        }
        body = msgspec.json.encode({name: value for name, value in options.items() if value not in ({}, None, "")})
        return await self.request("DELETE", path, body if len(body) > 2 else b"", repeat=bool(uid))

    async def bind(self, namespace: str, name: str, uid: str, node: str, *, deadline: float | None = None) -> None:
        """Give a pod its node.

        409 is all of: another pod of that name, bound already (to this node too), gated. After a LostError that was
        sent, a second bind's 409 may tell of the first one's success; the pod itself says.
        """
        body = BINDING % (_text(name), _text(uid), _text(node))
        await self.request(
            "POST", f"/api/v1/namespaces/{namespace}/pods/{quote(name)}/binding", body, deadline=deadline
        )

    async def evict(self, namespace: str, name: str, uid: str, *, grace: int | None = None) -> None:
        """Ask a pod to leave. ApiError 429 with `by_budget`: a disruption budget does not allow it now."""
        more = b"" if grace is None else b',"gracePeriodSeconds":%d' % grace
        body = EVICTION % (_text(name), _text(namespace), _text(uid), more)
        await self.request(
            "POST", f"/api/v1/namespaces/{namespace}/pods/{quote(name)}/eviction", body, repeat=bool(uid)
        )

    # how it is asked

    async def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        content_type: str = JSON,
        *,
        accept: str = JSON,
        deadline: float | None = None,
        repeat: bool = False,
    ) -> bytes:
        """Ask, and give the body of the answer. Raise ApiError, LostError or CredentialError.

        `deadline` is in seconds and for each attempt; `repeat` says that doing it twice is the same as once.
        """
        headers = {"Accept": accept, "Content-Type": content_type} if body else {"Accept": accept}
        seconds = self._deadline if deadline is None else deadline
        failures = 0
        while True:
            await self._turn()
            try:
                answer = await self._asked(
                    lambda shown: self._transport.send(method, path, body, headers, shown, seconds)
                )
                if answer.status < ERRORS:
                    return answer.body
                fault: ApiError | LostError = refusal(answer, f"{method} {path.partition('?')[0]}")
            except LostError as lost:
                fault = lost
            failures += 1
            if failures >= self._backoff.attempts or not may_repeat(fault, repeat):
                raise fault
            await self._wait(fault, failures)

    @asynccontextmanager
    async def stream(self, path: str, quiet: float) -> AsyncIterator[Lines]:
        """Ask for something without an end: a watch. One attempt; raise like `request`."""
        await self._turn()
        for may_ask_again in (True, False):
            credential = await self._credentials.current()
            async with self._transport.stream(path, {"Accept": JSON}, credential, quiet) as (answer, lines):
                if answer.status < ERRORS:
                    yield lines
                    return
            replaced = answer.status == UNAUTHORIZED and self._credentials.refused(credential)
            if not (replaced and may_ask_again):
                break
        fault = refusal(answer, f"GET {path.partition('?')[0]}")
        if fault.busy:
            self._close_for(self._delay(fault, 0))
        raise fault

    async def _asked(self, send: Callable[[Credential], Awaitable[Answer]]) -> Answer:
        """Ask, and ask once more if we showed a credential that had just been replaced."""
        credential = await self._credentials.current()
        answer = await send(credential)
        if answer.status == UNAUTHORIZED and self._credentials.refused(credential):
            answer = await send(await self._credentials.current())
        return answer

    async def _turn(self) -> None:
        """Wait while the server has told one of us to."""
        closed_for = self._closed_until - self._clock()
        if closed_for > 0:
            await self._sleep(closed_for * (1 + self._random() / 4))

    async def _wait(self, fault: ApiError | LostError, failures: int) -> None:
        delay = self._delay(fault, failures - 1)
        if isinstance(fault, ApiError) and fault.busy:
            self._close_for(delay)
        else:
            await self._sleep(delay)

    def _delay(self, fault: ApiError | LostError, failures: int) -> float:
        told = fault.retry_after if isinstance(fault, ApiError) else 0.0
        return min(max(told, self._backoff.delay(failures, self._random)), LONGEST_WAIT)

    def _close_for(self, seconds: float) -> None:
        self._closed_until = max(self._closed_until, self._clock() + seconds)


def may_repeat(fault: ApiError | LostError, repeat: bool) -> bool:
    """Whether a request may be sent again that went wrong in this way."""
    if isinstance(fault, LostError):
        return repeat or not fault.sent
    return fault.busy or (repeat and fault.passing)


def query_of(asked: Mapping[str, str]) -> str:
    """The query that asks for something, without what is empty."""
    given = {name: value for name, value in asked.items() if value}
    return f"?{urlencode(given)}" if given else ""


def _text(value: str) -> bytes:
    return msgspec.json.encode(value)
