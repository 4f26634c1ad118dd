"""Listening: a small HTTP server that gives pages to whoever asks, and cannot be asked too much.

Who asks may be anybody. A request has so many bytes and so many seconds; of too many connections the oldest gives way,
so those that are merely held open keep nobody out. Pages that cost time are made one at a time, with a rest after each
that is longer than it took: however often they are asked for, they get no more than a part of the scheduler's time.
There is one request for each connection, and bodies are not read.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from posse.errors import InputError, Place
from posse.kube.api.client import Sleep
from posse.kube.api.credentials import Clock

MOST_BYTES = 8192
MOST_CONNECTIONS = 64
SECONDS = 10.0
"""For a connection, from its beginning to its end."""
REST = 4.0
"""How much longer than a costly page took nobody gets the next one."""

PHRASES = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
PLAIN = "text/plain; charset=utf-8"


class Address(Struct, frozen=True):
    """Where to listen. An empty host means everywhere. One that `must` be had is asked for by somebody."""

    host: str
    port: int
    must: bool = True

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Request(Struct, frozen=True):
    """What is asked for. `near`: from this machine, or from within the same pod."""

    method: str
    path: str
    query: Mapping[str, str] = {}
    near: bool = False


class Answer(Struct, frozen=True):
    """What is answered."""

    body: str
    status: int = 200
    type: str = PLAIN

    def encoded(self, *, with_body: bool = True) -> bytes:
        """Give the bytes that are sent."""
        body = self.body.encode(errors="backslashreplace")
        head = f"HTTP/1.1 {self.status} {PHRASES[self.status]}\r\nContent-Type: {self.type}\r\n"
        rest = f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
        return (head + rest).encode("ascii") + (body if with_body else b"")


class Page(Struct, frozen=True):
    """What there is under a path."""

    give: Callable[[Request], Answer]
    costly: bool = False


class Listener:
    """Answers requests."""

    def __init__(
        self,
        pages: Mapping[str, Page],
        *,
        seconds: float = SECONDS,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._pages, self._seconds, self._clock, self._sleep = pages, seconds, clock, sleep
        self._open: dict[asyncio.StreamWriter, None] = {}
        self._turn = asyncio.Lock()
        self._rests_until = 0.0

    @asynccontextmanager
    async def at(self, address: Address) -> AsyncIterator[int]:
        """Listen for as long as the context lasts. Gives the port, which is the system's choice for port 0."""
        try:
            server = await asyncio.start_server(
                self._serve, address.host or None, address.port, limit=MOST_BYTES, reuse_address=True
            )
        except OSError as fault:
            message = f"cannot listen on {address}: {fault.strerror or fault}"
            raise InputError(message, place=Place(field="--listen"), accepted="a free HOST:PORT, or none") from None
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for writer in list(self._open):
                writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= MOST_CONNECTIONS:
            next(iter(self._open)).transport.abort()
        self._open[writer] = None
        writer.transport.set_write_buffer_limits(0)  # so that `drain` waits until all is sent
        try:
            async with asyncio.timeout(self._seconds):
                writer.write(await self._answer_to(reader, writer))
                await writer.drain()
        except (TimeoutError, OSError, EOFError):
            writer.transport.abort()
        finally:
            self._open.pop(writer, None)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer_to(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return Answer("that is too long a request\n", 431).encoded()
        request = request_in(head, near=is_near(writer))
        if request is None:
            return Answer("that is no request\n", 400).encoded()
        if request.method not in ("GET", "HEAD"):
            return Answer("pages can only be read\n", 405).encoded()
        page = self._pages.get(request.path)
        if page is None:
            return Answer(f"there are: {' '.join(self._pages)}\n", 404).encoded()
        answer = await self._sparingly(page, request) if page.costly else page.give(request)
        return answer.encoded(with_body=request.method == "GET")

    async def _sparingly(self, page: Page, request: Request) -> Answer:
        """Make a page when its turn comes."""
        async with self._turn:
            await self._sleep(max(0.0, self._rests_until - self._clock()))
            began = self._clock()
            answer = page.give(request)
            ended = self._clock()
            self._rests_until = ended + REST * (ended - began)
            return answer


def request_in(head: bytes, *, near: bool = False) -> Request | None:
    """Read the first line of a request; nothing if it is none."""
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if len(words) != 3 or not words[1].startswith("/") or not words[2].startswith("HTTP/1."):
        return None
    try:
        target = urlsplit(words[1])
        query = dict(parse_qsl(target.query, max_num_fields=10))
    except ValueError:
        return None
    return Request(words[0], unquote(target.path), query, near)


def is_near(writer: asyncio.StreamWriter) -> bool:
    """Whether whoever asks is on the loopback."""
    peer = writer.get_extra_info("peername")
    try:
        return bool(peer) and ip_address(peer[0]).is_loopback
    except ValueError:
        return False
