"""Requests over TLS: one in, one answer out, on connections that are kept.

Our own, on asyncio and httptools, for it takes 60 µs of CPU per bind where the best library takes 140 and the API
server 600, all of it on machines that have other things to do (docs/architecture.md has the figures). What callers need
to know is told: whether a request that got no answer can have been seen. Nothing is repeated here, and nobody stands
between: proxies are not used.

A watch has a connection of its own, for it would be missing in the pool.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol
from urllib.parse import urlsplit

from posse import __version__
from posse.errors import InputError
from posse.kube.api.answers import ERRORS, Answer, LostError
from posse.kube.api.connection import Connection
from posse.kube.api.credentials import Credential
from posse.kube.api.server import Access
from posse.kube.api.tls import tls_context

CONNECTIONS = 64
"""How many requests are under way at once. Fewer leave a server idle that has to wait for its disk."""
CONNECT = 10.0
"""Seconds until a connection must stand."""
KEPT = 60.0
"""Seconds that an idle connection is kept; API servers close theirs after 90."""
LONGEST_LINE = 8 * 2**20
"""Of a watch: one object. etcd takes none above 1.5 MiB, unless told otherwise."""

PORTS = {"https": 443, "http": 80}

Lines = AsyncIterator[list[bytes]]
"""The lines of a body, as many at a time as have arrived."""


class Transport(Protocol):
    """Carries requests. What happens to one on its way is told as LostError; a refusal is an answer like any other."""

    async def send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], credential: Credential, deadline: float
    ) -> Answer:
        """Send a request, and give the whole answer."""

    def stream(
        self, path: str, headers: Mapping[str, str], credential: Credential, quiet: float
    ) -> AbstractAsyncContextManager[tuple[Answer, Lines]]:
        """Ask for something without an end: the answer (its body only if it refuses) and the lines as they come.

        It is lost if nothing arrives for `quiet` seconds.
        """

    async def close(self) -> None:
        """Close all connections."""


class HttpTransport:
    """Requests over TLS, or plain HTTP if the server is so. Lives in one event loop.

    `may_change` is asked in the moment in which a request that changes something would leave: whoever was slow to get a
    connection, or stood still, may have lost the right to on the way.
    """

    def __init__(
        self,
        access: Access,
        connections: int = CONNECTIONS,
        longest_line: int = LONGEST_LINE,
        may_change: Callable[[], bool] = lambda: True,
    ) -> None:
        parts = urlsplit(access.server.url)
        self._server = access.server
        self._host, self._port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        self._encrypted = parts.scheme == "https"
        self._prefix = parts.path
        common = [("Host", parts.netloc), ("User-Agent", f"posse/{__version__}"), *access.headers]
        self._common = "".join(header(name, value) for name, value in common)
        self._slots = asyncio.Semaphore(connections)
        self._idle: list[tuple[Connection, float]] = []
        self._longest_line = longest_line
        self._may_change = may_change
        self._shown: tuple[bytes, bytes] | None = None
        self._tls: ssl.SSLContext | None = None
        self._closed = False

    async def send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], credential: Credential, deadline: float
    ) -> Answer:
        """Send a request, and give the whole answer."""
        request = self._request(method, path, body, headers, credential)
        sent = False
        try:
            async with asyncio.timeout(deadline), self._slots:
                connection = await self._connection(credential)
                if method != "GET" and not self._may_change():
                    self._idle.append((connection, asyncio.get_running_loop().time()))
                    raise LostError("not sent: we may not change anything any more", sent=False)
                sent = True
                return await self._asked(connection, request)
        except TimeoutError:
            raise LostError(f"{method} {path}: no answer in {deadline:g} seconds", sent=sent) from None
        except LostError as lost:
            raise LostError(f"{method} {path}: {lost.message}", sent=lost.sent) from None

    @asynccontextmanager
    async def stream(
        self, path: str, headers: Mapping[str, str], credential: Credential, quiet: float
    ) -> AsyncIterator[tuple[Answer, Lines]]:
        """Ask for something without an end."""
        try:
            async with asyncio.timeout(quiet):
                connection = await self._open(credential)
        except TimeoutError:
            raise LostError(f"GET {path}: no connection in {quiet:g} seconds", sent=False) from None
        except LostError as lost:
            raise LostError(f"GET {path}: {lost.message}", sent=lost.sent) from None
        stream = Stream(connection, path, quiet, self._longest_line)
        try:
            answer = await stream.begin(self._request("GET", path, b"", headers, credential))
            yield answer, stream.lines()
        finally:
            connection.abort()

    async def close(self) -> None:
        """Close all connections, and wait until they are."""
        self._closed = True
        self._close_idle()
        await asyncio.sleep(0)  # the event loop lets go of them in its next turn

    async def _asked(self, connection: Connection, request: bytes) -> Answer:
        """Ask on a connection, and keep it if all went well."""
        shown = self._shown
        try:
            answer = await connection.ask(request)
        except BaseException:
            connection.abort()
            raise
        if connection.reusable and shown == self._shown and not self._closed:
            self._idle.append((connection, asyncio.get_running_loop().time()))
        else:
            connection.abort()
        return answer

    async def _connection(self, credential: Credential) -> Connection:
        """A connection that shows a credential: the one that was used last, or a new one."""
        self._show(credential)
        oldest = asyncio.get_running_loop().time() - KEPT
        while self._idle:
            connection, since = self._idle.pop()
            if connection.reusable and since >= oldest:
                return connection
            connection.abort()
        return await self._open(credential)

    async def _open(self, credential: Credential) -> Connection:
        self._show(credential)
        name = (self._server.tls_name or self._host) if self._encrypted else None
        try:
            async with asyncio.timeout(CONNECT):
                _, connection = await asyncio.get_running_loop().create_connection(
                    Connection, self._host, self._port, ssl=self._tls, server_hostname=name
                )
        except OSError as fault:
            why = str(fault) or f"no connection in {CONNECT:g} seconds"
            raise LostError(f"{self._server.url} cannot be reached: {why}", sent=False) from None
        return connection

    def _show(self, credential: Credential) -> None:
        """Use a credential's certificate from now on. Connections that showed another one are closed."""
        pair = (credential.certificate, credential.key)
        if pair != self._shown:
            self._tls = tls_context(self._server, credential) if self._encrypted else None
            self._shown = pair
            self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop()[0].abort()

    def _request(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], credential: Credential
    ) -> bytes:
        if " " in path or not path.isprintable():
            raise ValueError(f"{path!r} is no path")
        own = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        token = f"Authorization: Bearer {credential.token}\r\n" if credential.token else ""
        length = f"Content-Length: {len(body)}\r\n" if body or method != "GET" else ""
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._common}{own}{token}{length}\r\n"
        return head.encode("latin-1") + body


class Stream:
    """An answer without an end, in lines."""

    def __init__(self, connection: Connection, path: str, quiet: float, longest_line: int) -> None:
        self._connection = connection
        self._path = path
        self._quiet = quiet
        self._longest_line = longest_line

    async def begin(self, request: bytes) -> Answer:
        """Ask. A refusal is given whole."""
        try:
            async with asyncio.timeout(self._quiet):
                answer = await self._connection.begin(request)
                body = b""
                while answer.status >= ERRORS and len(body) < self._longest_line:
                    if not (more := await self._connection.more()):
                        break
                    body += more
        except (TimeoutError, LostError) as fault:
            raise self._lost(fault) from None
        return Answer(answer.status, answer.headers, body)

    async def lines(self) -> Lines:
        """The lines as they come. A last one that was cut off is not given."""
        begun: list[bytes] = []
        size = 0
        while came := await self._more():
            *whole, rest = came.split(b"\n")
            if whole:
                whole[0] = b"".join((*begun, whole[0]))
                yield whole
                begun, size = [], 0
            begun.append(rest)
            size += len(rest)
            if size > self._longest_line:
                raise LostError(f"GET {self._path}: a line of more than {self._longest_line} bytes")

    async def _more(self) -> bytes:
        try:
            async with asyncio.timeout(self._quiet):
                return await self._connection.more()
        except (TimeoutError, LostError) as fault:
            raise self._lost(fault) from None

    def _lost(self, fault: TimeoutError | LostError) -> LostError:
        why = fault.message if isinstance(fault, LostError) else f"nothing came for {self._quiet:g} seconds"
        return LostError(f"GET {self._path}: {why}")


def header(name: str, value: str) -> str:
    """A header that goes with every request."""
    if not value.isprintable() or not value.isascii():
        raise InputError(f"{name} holds what no header can: {value!r}", accepted="printable ASCII")
    return f"{name}: {value}\r\n"
