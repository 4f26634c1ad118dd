"""The pool: which connections are used again, and whose requests wait."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from posse.kube.api.answers import LostError
from posse.kube.api.credentials import Credential
from posse.kube.api.server import Access, Server
from posse.kube.api.transport import KEPT, HttpTransport
from tests.kube.api.stub import SILENCE, Asked, Play, Stub, Writer, answer, stub

ANN = Credential("ann", b"certificate of ann", b"key")
BEN = Credential("ben", b"certificate of ben", b"key")


def run(use: Callable[[HttpTransport, Stub], Awaitable[None]], *plays: Play, connections: int = 64) -> None:
    async def story() -> None:
        async with stub(*plays) as server:
            transport = HttpTransport(Access(Server(server.url)), connections)
            await use(transport, server)
            await transport.close()

    asyncio.run(story())


async def send(transport: HttpTransport, credential: Credential = ANN, deadline: float = 30.0) -> bytes:
    return (await transport.send("POST", "/x", b"{}", {}, credential, deadline)).body


def held(until: asyncio.Event) -> Play:
    """An answer that is kept back for a while."""

    async def play(asked: Asked, writer: Writer) -> bool:
        await until.wait()
        return await answer()(asked, writer)

    return play


def test_what_was_idle_for_too_long_is_not_used() -> None:
    async def use(transport: HttpTransport, server: Stub) -> None:
        await send(transport)
        ((connection, since),) = transport._idle
        transport._idle[:] = [(connection, since - KEPT)]
        await send(transport)
        assert server.connections == 2

    run(use, answer())


def test_who_shows_another_certificate_gets_another_connection() -> None:
    async def use(transport: HttpTransport, server: Stub) -> None:
        for credential in (ANN, ANN, BEN, BEN):
            await send(transport, credential)
        assert [it.connection for it in server.asked] == [1, 1, 2, 2]

    run(use, answer())


def test_also_if_the_first_one_was_still_in_use() -> None:
    async def use(transport: HttpTransport, server: Stub) -> None:
        first = asyncio.create_task(send(transport, ANN))
        while not server.asked:
            await asyncio.sleep(0)
        await send(transport, BEN)
        go_on.set()
        await first
        await asyncio.gather(send(transport, BEN), send(transport, BEN))
        assert [it.connection for it in server.asked] == [1, 2, 2, 3]

    go_on = asyncio.Event()
    run(use, held(go_on), answer())


def test_a_pool_that_is_closed_keeps_nothing() -> None:
    async def use(transport: HttpTransport, server: Stub) -> None:
        first = asyncio.create_task(send(transport))
        while not server.asked:
            await asyncio.sleep(0)
        await transport.close()
        go_on.set()
        assert await first == b"{}"
        assert not transport._idle

    go_on = asyncio.Event()
    run(use, held(go_on))


def test_who_waited_for_a_connection_in_vain_has_sent_nothing() -> None:
    async def use(transport: HttpTransport, server: Stub) -> None:
        first = asyncio.create_task(send(transport))
        while not server.asked:
            await asyncio.sleep(0)
        with pytest.raises(LostError) as lost:
            await send(transport, deadline=0.05)
        assert not lost.value.sent
        assert len(server.asked) == 1
        first.cancel()

    run(use, SILENCE, connections=1)


def test_what_may_not_be_changed_any_more_does_not_leave() -> None:
    async def story() -> None:
        async with stub(answer()) as server:
            transport = HttpTransport(Access(Server(server.url)), may_change=lambda: False)
            with pytest.raises(LostError, match="may not change") as lost:
                await send(transport)
            assert not lost.value.sent
            assert (await transport.send("GET", "/x", b"", {}, ANN, 30.0)).status == 200
            assert [asked.method for asked in server.asked] == ["GET"]
            await transport.close()

    asyncio.run(story())
