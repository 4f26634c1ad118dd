"""One connection to an API server: HTTP/1.1, one request at a time, the answer whole or as it comes.

What a server may fill our memory with is bounded: the head of an answer, its body if it is wanted whole, and what waits
to be taken if it is not (the server is made to wait then). Data that nobody asked for ends the connection.
"""

import asyncio
from typing import cast

import httptools

from posse.kube.api.answers import Answer, LostError

LARGEST_HEAD = 2**20
LARGEST_BODY = 512 * 2**20
"""No page of a list and no object comes near."""
ENOUGH = 2**18
"""How much of a stream waits before the server is made to wait."""

WANTED = (b"content-length", b"transfer-encoding", b"retry-after")
"""The headers that anybody reads."""

FINAL = 200
"""Statuses below are said on the way to the answer."""


class Connection(asyncio.Protocol):
    """A connection. Made by the event loop; `ask` or `begin` may be called when the last answer is complete."""

    def __init__(self, largest_body: int = LARGEST_BODY) -> None:
        self._largest_body = largest_body
        self._parser = httptools.HttpResponseParser(self)
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._lost = ""
        self._complete = True
        self._reusable = True
        self._streaming = False
        self._paused = False
        self._status = 0
        self._head_size = 0
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def reusable(self) -> bool:
        """Whether one more request may be sent."""
        return self._complete and self._reusable and not self._lost and not self._transport.is_closing()

    async def ask(self, request: bytes) -> Answer:
        """Send a request, and give the whole answer. Raise LostError."""
        self._send(request, streaming=False)
        while not self._complete:
            await self._news()
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        return Answer(self._status, self._headers, body)

    async def begin(self, request: bytes) -> Answer:
        """Send a request, and give the head of the answer; `more` gives the rest."""
        self._send(request, streaming=True)
        while not self._status:
            await self._news()
        return Answer(self._status, self._headers, b"")

    async def more(self) -> bytes:
        """What came of the body since; waits for at least something; empty at its end."""
        while not self._parts and not self._complete:
            await self._news()
        came = b"".join(self._parts)
        self._parts, self._size = [], 0
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        return came

    def abort(self) -> None:
        """End it at once."""
        self._lost = self._lost or "closed by us"
        self._transport.abort()

    def _send(self, request: bytes, *, streaming: bool) -> None:
        if self._lost:
            raise LostError(self._lost, sent=False)
        self._complete, self._streaming, self._paused = False, streaming, False
        self._status, self._head_size, self._headers = 0, 0, {}
        self._parts, self._size = [], 0
        self._transport.write(request)

    async def _news(self) -> None:
        if self._lost:
            raise LostError(self._lost)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, why: str) -> None:
        self._lost = self._lost or why
        self._transport.abort()
        self._wake()

    # what the event loop tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It stands."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Something came."""
        if not self._status:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as fault:
            self._fail(f"the answer is no HTTP: {fault}")
        if not self._status and self._head_size > LARGEST_HEAD:
            self._fail(f"the answer has a head of more than {LARGEST_HEAD} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        """It is no more."""
        until_close = not ({"content-length", "transfer-encoding"} & self._headers.keys())
        if self._status and until_close and exc is None and not self._lost:
            self._complete = True
        self._lost = self._lost or (str(exc) if exc else "the server closed the connection")
        self._wake()

    # what the parser tells

    def on_message_begin(self) -> None:
        """An answer. One more than was asked for must not be taken for part of the first."""
        if self._complete:
            raise ValueError("the server sent what nobody asked for")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        name = name.lower()
        if name in WANTED:
            self._headers[name.decode()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head is complete."""
        status = self._parser.get_status_code()
        if status < FINAL:
            self._headers = {}
            return
        self._status = status
        if self._streaming:
            self._wake()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._parts.append(body)
        self._size += len(body)
        if self._streaming:
            if self._size > ENOUGH and not self._paused:
                self._paused = True
                self._transport.pause_reading()
            self._wake()
        elif self._size > self._largest_body:
            self._fail(f"an answer of more than {self._largest_body} bytes")

    def on_message_complete(self) -> None:
        """All of it is there."""
        if self._status:
            self._complete = True
            self._reusable = self._parser.should_keep_alive()
            self._wake()
