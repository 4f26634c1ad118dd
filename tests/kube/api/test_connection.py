"""A connection: what may wait in it is bounded, whatever a server sends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from posse.kube.api.answers import LostError
from posse.kube.api.connection import ENOUGH, Connection

STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Wire(asyncio.Transport):
    """The other side of a connection, which notes what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True
        self.aborted = False

    def write(self, data: Any) -> None: ...

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted


def chunk(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


def run(story: Callable[[Connection, Wire], Awaitable[None]], **more: Any) -> None:
    async def whole() -> None:
        connection, wire = Connection(**more), Wire()
        connection.connection_made(wire)
        await story(connection, wire)

    asyncio.run(whole())


async def asked(waiting: Awaitable[Any]) -> "asyncio.Task[Any]":
    task = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)
    assert isinstance(task, asyncio.Task)
    return task


def test_who_does_not_listen_makes_the_server_wait() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        begun = await asked(connection.begin(b""))
        connection.data_received(STREAM)
        assert (await begun).status == 200
        connection.data_received(chunk(b"x" * ENOUGH))
        assert wire.reading
        connection.data_received(chunk(b"y"))
        assert not wire.reading
        assert await connection.more() == b"x" * ENOUGH + b"y"
        assert wire.reading

    run(story)


def test_a_stream_has_an_end() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        begun = await asked(connection.begin(b""))
        connection.data_received(STREAM + chunk(b"x") + chunk(b""))
        await begun
        assert await connection.more() == b"x"
        assert await connection.more() == b""

    run(story)


def test_a_stream_that_is_cut_off_is_lost_after_what_came() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        begun = await asked(connection.begin(b""))
        connection.data_received(STREAM + chunk(b"x"))
        connection.connection_lost(None)
        await begun
        assert await connection.more() == b"x"
        with pytest.raises(LostError, match="the server closed the connection"):
            await connection.more()

    run(story)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n" + b"x" * 101, "an answer of more than 100 bytes"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200_000, "a head of more than"),
    ],
)
def test_an_answer_that_is_too_large_is_lost(answer: bytes, told: str) -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        task = await asked(connection.ask(b""))
        connection.data_received(answer)
        with pytest.raises(LostError, match=told):
            await task
        assert wire.aborted
        assert not connection.reusable

    run(story, largest_body=100)


def test_a_connection_that_is_gone_is_not_written_to() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        connection.connection_lost(ConnectionResetError("reset"))
        with pytest.raises(LostError, match="reset") as lost:
            await connection.ask(b"")
        assert not lost.value.sent

    run(story)


def test_what_comes_unasked_ends_it() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        connection.data_received(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        assert wire.aborted
        assert not connection.reusable

    run(story)


def test_an_answer_without_a_length_is_whole_only_if_the_connection_ends_in_peace() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        task = await asked(connection.ask(b""))
        connection.data_received(b"HTTP/1.1 200 OK\r\n\r\n{")
        connection.connection_lost(ConnectionResetError("reset"))
        with pytest.raises(LostError, match="reset"):
            await task

    run(story)


def test_what_the_server_is_about_to_close_is_not_used_again() -> None:
    async def story(connection: Connection, wire: Wire) -> None:
        for more, reusable in ((b"", True), (b"Connection: close\r\n", False)):
            task = await asked(connection.ask(b""))
            connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + more + b"\r\n{}")
            assert (await task).body == b"{}"
            assert connection.reusable == reusable

    run(story)
