"""Requests over HTTP/1.1 and TLS: one in, one answer out, on connections that are kept.

aiohttp does it. As a null binder against a real API server it reached the rate of the leanest client we could write
(docs/architecture.md has the figures), for 80 µs more of CPU per bind where the server takes 600. What is added here is
what callers need to know: whether a request that got no answer can have been seen; and that nothing that a server sends
can fill our memory.

Nothing is repeated here. Watches have connections of their own, for they would use up those of the pool.
"""

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Protocol

import aiohttp
from yarl import URL

from posse import __version__
from posse.kube.api.answers import ERRORS, Answer, LostError
from posse.kube.api.credentials import Credential
from posse.kube.api.server import Access
from posse.kube.api.tls import tls_context

CONNECTIONS = 64
"""How many requests are under way at once. Fewer leave a server idle that has to wait for its disk."""
CONNECT = 10.0
"""Seconds until a connection must stand."""
KEPT = 60.0
"""Seconds that an idle connection is kept; API servers close theirs after 90."""
LARGEST_BODY = 512 * 2**20
"""No page of a list and no object comes near."""
LONGEST_LINE = 8 * 2**20
"""Of a watch: one object. etcd takes none above 1.5 MiB, unless told otherwise."""
CHUNK = 2**18

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
    """Requests by aiohttp. Lives in one event loop."""

    def __init__(self, access: Access, connections: int = CONNECTIONS, longest_line: int = LONGEST_LINE) -> None:
        self._server = access.server
        self._common = {"User-Agent": f"posse/{__version__}"}
        self._repeated = access.headers
        self._connections = connections
        self._longest_line = longest_line
        self._calls: aiohttp.ClientSession | None = None
        self._streams: aiohttp.ClientSession | None = None
        self._tls: tuple[tuple[bytes, bytes], ssl.SSLContext] | None = None

    async def send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], credential: Credential, deadline: float
    ) -> Answer:
        """Send a request, and give the whole answer."""
        if self._calls is None:
            self._calls = self._session(self._connections)
        with lost(f"{method} {path}", f"no answer in {deadline:g} seconds"):
            async with self._calls.request(
                method,
                URL(self._server.url + path, encoded=True),
                data=body or None,
                headers=self._headers(headers, credential),
                ssl=self._context(credential),
                server_hostname=self._server.tls_name or None,
                timeout=aiohttp.ClientTimeout(total=deadline, sock_connect=CONNECT),
                allow_redirects=False,
            ) as response:
                return Answer(response.status, response.headers, await whole_body(response))

    @asynccontextmanager
    async def stream(
        self, path: str, headers: Mapping[str, str], credential: Credential, quiet: float
    ) -> AsyncIterator[tuple[Answer, Lines]]:
        """Ask for something without an end."""
        if self._streams is None:
            self._streams = self._session(0)
        what, silence = f"GET {path}", f"nothing came for {quiet:g} seconds"
        with lost(what, silence):
            response = await self._streams.get(
                URL(self._server.url + path, encoded=True),
                headers=self._headers(headers, credential),
                ssl=self._context(credential),
                server_hostname=self._server.tls_name or None,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT, quiet), sock_read=quiet),
                read_bufsize=CHUNK,
                allow_redirects=False,
            )
        try:
            with lost(what, silence):
                body = await whole_body(response) if response.status >= ERRORS else b""
            lines = lines_of(response.content, what, silence, self._longest_line)
            yield Answer(response.status, response.headers, body), lines
        finally:
            response.close()

    async def close(self) -> None:
        """Close all connections, and wait until they are."""
        for session in (self._calls, self._streams):
            if session is not None:
                await session.close()
        self._calls = self._streams = None

    def _session(self, connections: int) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEPT),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=["Accept-Encoding", "Content-Type"],
            middlewares=(never_repeated,),
            auto_decompress=False,
            trust_env=False,
        )

    def _headers(self, own: Mapping[str, str], credential: Credential) -> Mapping[str, str] | list[tuple[str, str]]:
        headers = {**self._common, **own}
        if credential.token:
            headers["Authorization"] = f"Bearer {credential.token}"
        return [*headers.items(), *self._repeated] if self._repeated else headers

    def _context(self, credential: Credential) -> ssl.SSLContext | bool:
        """TLS with a credential's certificate. Another certificate gets other connections: aiohttp keeps them apart."""
        if not self._server.url.startswith("https:"):
            return True
        pair = (credential.certificate, credential.key)
        if self._tls is None or self._tls[0] != pair:
            self._tls = (pair, tls_context(self._server, credential))
        return self._tls[1]


async def never_repeated(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Tell lost connections in our own words, which aiohttp does not take for an invitation to ask a second time."""
    try:
        return await handler(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as fault:
        raise LostError(f"{request.method} {request.url.path}: {told(fault)}", sent=False) from None
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as fault:
        raise LostError(f"{request.method} {request.url.path}: {told(fault)}") from None


async def whole_body(response: aiohttp.ClientResponse) -> bytes:
    """The body, unless it is larger than anything sensible."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST_BODY:
            raise LostError(f"{response.url.path}: an answer of more than {LARGEST_BODY >> 20} MiB")
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def lines_of(content: aiohttp.StreamReader, what: str, silence: str, longest: int) -> Lines:
    """The lines of a body without an end. A last one that was cut off is not given."""
    begun: list[bytes] = []
    size = 0
    with lost(what, silence):
        async for chunk in content.iter_any():
            *whole, rest = chunk.split(b"\n")
            if whole:
                whole[0] = b"".join((*begun, whole[0]))
                yield whole
                begun, size = [], 0
            begun.append(rest)
            size += len(rest)
            if size > longest:
                raise LostError(f"{what}: a line of more than {longest} bytes")


@contextmanager
def lost(what: str, silence: str) -> Iterator[None]:
    """Tell in our own words what happens to a request on its way."""
    try:
        yield
    except TimeoutError:
        raise LostError(f"{what}: {silence}") from None
    except (aiohttp.ClientError, OSError) as fault:
        raise LostError(f"{what}: {told(fault)}") from None


def told(fault: Exception) -> str:
    """A fault in words. Some have none."""
    return str(fault) or type(fault).__name__
