"""A server that misbehaves on purpose, over real sockets: it plays what it is told to, and notes what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from posse.kube.api.client import ApiClient
from posse.kube.api.credentials import Credentials, Fixed
from posse.kube.api.server import Access, Server

Writer = asyncio.StreamWriter


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int


Play = Callable[[Asked, Writer], Awaitable[bool]]
"""Answers a request; no, if the connection is not to be used again."""


@dataclass
class Stub:
    """The server. `plays` are used up one per request; the last one stays."""

    plays: list[Play]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    writers: list[Writer] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connections += 1
        number = self.connections
        self.writers.append(writer)
        try:
            while request := await read(reader, number):
                self.asked.append(request)
                play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
                if not await play(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def read(reader: asyncio.StreamReader, number: int) -> Asked | None:
    first = (await reader.readline()).decode().split()
    if not first:
        return None
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode().strip():
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(first[0], first[1], headers, body, number)


@asynccontextmanager
async def stub(*plays: Play) -> AsyncIterator[Stub]:
    """Run a server on the loopback."""
    playing = Stub(list(plays))
    server = await asyncio.start_server(playing.serve, "127.0.0.1", 0)
    playing.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield playing
    finally:
        server.close()
        for writer in playing.writers:
            writer.close()
        await asyncio.sleep(0)


def client_of(server: Stub, credentials: Credentials = Fixed(), **more: Any) -> ApiClient:  # noqa: B008 - immutable
    return ApiClient(Access(Server(server.url), credentials), **more)


def answer(body: Any = None, status: int = 200, **headers: str) -> Play:
    """A proper answer."""

    async def play(asked: Asked, writer: Writer) -> bool:
        text = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n{more}\r\n".encode() + text)
        await writer.drain()
        return headers.get("Connection") != "close"

    return play


def refused(status: int, reason: str, message: str = "no", **headers: str) -> Play:
    """A refusal with a Status."""
    return answer(
        {"kind": "Status", "status": "Failure", "reason": reason, "message": message, "code": status}, status, **headers
    )


def raw(text: bytes, *, stays: bool = False) -> Play:
    """Some bytes, and the end of the connection; or silence, if it stays."""

    async def play(asked: Asked, writer: Writer) -> bool:
        writer.write(text)
        await writer.drain()
        if stays:
            await asyncio.Event().wait()
        return False

    return play


def events(*lines: Any, stays: bool = False, cut: bytes = b"") -> Play:
    """A watch: one chunk per line, then the end, or silence; `cut` is the beginning of one more line."""

    async def play(asked: Asked, writer: Writer) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        texts = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines]
        for text in [*texts, cut] if cut else texts:
            writer.write(b"%x\r\n%b\r\n" % (len(text), text))
            await writer.drain()
        if stays:
            await asyncio.Event().wait()
        if not cut:
            writer.write(b"0\r\n\r\n")
        return not cut

    return play


SILENCE = raw(b"", stays=True)
HANGS_UP = raw(b"")
