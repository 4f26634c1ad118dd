"""Requests: what comes back, what is asked again, and what is not."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient, Patch
from posse.kube.api.credentials import Credential
from tests.kube.api.fakes import Clock, always
from tests.kube.api.stub import HANGS_UP, SILENCE, Play, Stub, answer, client_of, events, raw, refused, stub

Use = Callable[[ApiClient, Stub], Awaitable[Any]]


def run(use: Use, *plays: Play, clock: Clock | None = None, **more: Any) -> Any:
    """Use a client of a server that plays."""
    clock = clock or Clock()

    async def story() -> Any:
        async with (
            stub(*plays) as server,
            client_of(server, clock=clock, sleep=clock.sleep, random=always(), **more) as client,
        ):
            return await use(client, server)

    return asyncio.run(story())


def test_an_answer_is_given_as_it_came() -> None:
    assert run(lambda client, _: client.get("/version"), answer({"major": "1"})) == b'{"major": "1"}'


def test_a_refusal_is_an_error_with_all_that_was_told() -> None:
    async def use(client: ApiClient, _: Stub) -> None:
        with pytest.raises(ApiError, match="404 NotFound: GET /x: pods a not found") as refusal:
            await client.get("/x?a=1")
        assert refusal.value.reason == "NotFound"
        assert refusal.value.details.name == "a"

    status = {"reason": "NotFound", "message": "pods a not found", "details": {"name": "a", "kind": "pods"}}
    run(use, answer(status, 404))


def test_a_refusal_by_something_that_speaks_no_json_is_told_too() -> None:
    async def use(client: ApiClient, _: Stub) -> None:
        with pytest.raises(ApiError, match="502: POST /x: <h1>Bad gateway") as refusal:
            await client.create("/x", b"{}")
        assert refusal.value.status == 502

    run(use, answer(b"<h1>Bad gateway</h1>", 502))


def test_who_sends_us_elsewhere_is_no_api_server() -> None:
    async def use(client: ApiClient, _: Stub) -> None:
        with pytest.raises(ApiError, match="302: GET /x: log in first"):
            await client.get("/x")

    run(use, answer(b"log in first", 302, Location="https://login"))


def test_connections_are_used_again() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        for _ in range(5):
            await client.get("/x")
        assert server.connections == 1

    run(use, answer())


def test_a_connection_that_the_server_will_close_is_not() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        await client.get("/x")
        await client.get("/x")
        assert server.connections == 2

    run(use, answer(Connection="close"), answer())


def test_no_more_connections_than_allowed() -> None:
    from posse.kube.api.server import Access, Server
    from posse.kube.api.transport import HttpTransport

    async def story() -> None:
        async with stub(answer()) as server:
            access = Access(Server(server.url))
            async with ApiClient(access, HttpTransport(access, connections=3)) as client:
                await asyncio.gather(*(client.get("/x") for _ in range(20)))
            assert server.connections == 3
            assert len(server.asked) == 20

    asyncio.run(story())


def test_reading_is_asked_again_when_the_connection_is_lost() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        assert await client.get("/x") == b"{}"
        assert len(server.asked) == 3

    run(use, HANGS_UP, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), answer())


def test_a_change_that_may_have_been_made_is_not() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        with pytest.raises(LostError, match="POST /x: the server closed the connection") as lost:
            await client.create("/x", b"{}")
        assert lost.value.sent
        assert len(server.asked) == 1

    run(use, HANGS_UP, answer())


def test_unless_doing_it_twice_is_the_same() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        await client.delete("/x", uid="u")
        assert [it.body for it in server.asked] == [b'{"preconditions":{"uid":"u"}}'] * 2

    run(use, HANGS_UP, answer())


def test_a_server_that_is_not_there_has_surely_seen_nothing() -> None:
    clock = Clock()

    async def story() -> None:
        async with stub(answer()) as server:
            pass
        async with client_of(server, clock=clock, sleep=clock.sleep, random=always()) as client:
            with pytest.raises(LostError, match="cannot be reached") as lost:
                await client.create("/x", b"{}")
            assert not lost.value.sent

    asyncio.run(story())
    assert clock.slept == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_silence_has_an_end() -> None:
    async def use(client: ApiClient, _: Stub) -> None:
        with pytest.raises(LostError, match=r"POST /x: no answer in 0\.05 seconds") as lost:
            await client.create("/x", b"{}")
        assert lost.value.sent

    run(use, SILENCE, deadline=0.05)


def test_who_is_cancelled_leaves_nothing_behind() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        asking = asyncio.create_task(client.get("/x"))
        while not server.asked:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await client.get("/x") == b"{}"
        assert server.connections == 2  # the answer to the first would have come on the other one

    run(use, SILENCE, answer())


@pytest.mark.parametrize(
    "text",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: nine\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 2**21 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_answer_is_told_as_lost(text: bytes) -> None:
    async def use(client: ApiClient, _: Stub) -> None:
        with pytest.raises(LostError, match=r"no HTTP|a head of more than|closed the connection"):
            await client.create("/x", b"{}")

    run(use, raw(text, stays=True))


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    assert run(lambda client, _: client.get("/x"), raw(b"HTTP/1.1 200 OK\r\n\r\n{}")) == b"{}"


def test_what_is_said_before_an_answer_is_not_the_answer() -> None:
    text = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    assert run(lambda client, _: client.get("/x"), raw(text, stays=True)) == b"{}"


def test_what_nobody_asked_for_ends_the_connection() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        assert await client.get("/x") == b"{}"
        assert await client.get("/x") == b'{"own": 1}'
        assert server.connections == 2

    twice = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
    run(use, raw(twice, stays=True), answer({"own": 1}))


def test_a_busy_server_is_left_alone_for_as_long_as_it_says_by_everybody() -> None:
    clock = Clock()

    async def use(client: ApiClient, server: Stub) -> None:
        await client.create("/a", b"{}")
        assert clock.slept == [7.0]
        assert [it.path for it in server.asked] == ["/a", "/a"]
        client._closed_until = clock.now + 5
        await client.get("/b")
        assert clock.slept == [7.0, 5.0]

    run(use, refused(429, "TooManyRequests", Retry_After="7"), answer(), clock=clock)


def test_not_for_ever() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        with pytest.raises(ApiError, match="429"):
            await client.create("/a", b"{}")
        assert len(server.asked) == 3

    run(use, refused(429, "TooManyRequests", Retry_After="7"), backoff=Backoff(attempts=3))


def test_a_budget_that_is_used_up_is_no_busy_server() -> None:
    clock = Clock()
    causes = [{"reason": "DisruptionBudget", "message": "needs 2 healthy pods"}]
    status = {"reason": "TooManyRequests", "message": "no", "details": {"causes": causes}}

    async def use(client: ApiClient, server: Stub) -> None:
        with pytest.raises(ApiError) as refusal:
            await client.evict("ns", "p", "uid")
        assert refusal.value.by_budget
        assert len(server.asked) == 1
        assert server.asked[0].path == "/api/v1/namespaces/ns/pods/p/eviction"

    run(use, answer(status, 429, Retry_After="10"), clock=clock)
    assert clock.slept == []


def test_troubles_that_pass_are_waited_out_by_those_who_read_only() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        assert await client.get("/x") == b"{}"
        with pytest.raises(ApiError, match="503"):
            await client.create("/x", b"{}")

    run(use, refused(500, "InternalError"), answer(), refused(503, "ServiceUnavailable"), answer())


class Changing:
    """A credential that is replaced when it is refused."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)

    async def current(self) -> Credential:
        return Credential(self.tokens[0])

    def refused(self, credential: Credential) -> bool:
        self.tokens.pop(0)
        return bool(self.tokens)


def test_a_token_that_was_just_replaced_is_replaced_here_too() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        await client.create("/x", b"{}")
        assert [it.headers["authorization"] for it in server.asked] == ["Bearer old", "Bearer new"]

    run(use, refused(401, "Unauthorized"), answer(), credentials=Changing("old", "new"))


def test_a_watch_shows_the_new_token_too() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        async with client.stream("/x", 1.0) as lines:
            assert [line async for line in lines] == [[b"{}"]]
        assert [it.headers["authorization"] for it in server.asked] == ["Bearer old", "Bearer new"]

    run(use, refused(401, "Unauthorized"), events(b"{}\n"), credentials=Changing("old", "new"))


def test_a_watch_that_is_not_let_in_says_so() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        with pytest.raises(ApiError, match="401 Unauthorized"):
            async with client.stream("/x", 1.0):
                pass
        assert len(server.asked) == 2

    run(use, refused(401, "Unauthorized"), credentials=Changing("old", "new", "newest"))


def test_a_watch_that_is_told_to_wait_makes_everybody_wait() -> None:
    clock = Clock()

    async def use(client: ApiClient, server: Stub) -> None:
        with pytest.raises(ApiError, match="429"):
            async with client.stream("/x", 1.0):
                pass
        await client.get("/y")
        assert clock.slept == [7.0]

    run(use, refused(429, "TooManyRequests", Retry_After="7"), answer(), clock=clock)


def test_a_list_is_read_page_by_page() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        pages = [page async for page in client.list("/api/v1/pods", fields="spec.nodeName=", limit=2)]
        assert [msgspec.json.decode(item) for page in pages for item in page.items] == [1, 2, 3]
        assert [page.version for page in pages] == ["7", "7"]
        assert [it.path for it in server.asked] == [
            "/api/v1/pods?fieldSelector=spec.nodeName%3D&limit=2",
            "/api/v1/pods?fieldSelector=spec.nodeName%3D&limit=2&continue=a%2Fb",
        ]

    first = {"metadata": {"resourceVersion": "7", "continue": "a/b"}, "items": [1, 2]}
    run(use, answer(first), answer({"metadata": {"resourceVersion": "7"}, "items": [3]}))


def test_a_list_whose_rest_is_forgotten_says_so() -> None:
    async def use(client: ApiClient, _: Stub) -> None:
        with pytest.raises(ApiError) as refusal:
            _pages = [page async for page in client.list("/api/v1/pods", limit=2)]
        assert refusal.value.expired

    first = {"metadata": {"resourceVersion": "7", "continue": "x"}, "items": []}
    run(use, answer(first), refused(410, "Expired"))


def test_what_is_asked_for_reads_as_the_server_wants_it() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        await client.bind("ns", "p", 'u"', "n")
        await client.patch("/x", b"{}", Patch.STRATEGIC)
        await client.apply("/x", b"{}", manager="me", force=True)
        await client.replace("/x", b"{}")
        await client.delete("/x", grace=0, propagation="Background")
        bind, patch, apply, replace, delete = server.asked
        assert msgspec.json.decode(bind.body) == {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "p", "uid": 'u"'},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "n"},
        }
        assert patch.headers["content-type"] == "application/strategic-merge-patch+json"
        assert apply.headers["content-type"] == "application/apply-patch+yaml"
        assert apply.path == "/x?fieldManager=me&force=true"
        assert replace.method == "PUT"
        assert delete.body == b'{"gracePeriodSeconds":0,"propagationPolicy":"Background"}'
        assert "accept-encoding" not in delete.headers
        assert delete.headers["user-agent"].startswith("posse/")

    run(use, answer())


def test_a_path_cannot_become_two_requests() -> None:
    async def use(client: ApiClient, server: Stub) -> None:
        with pytest.raises(ValueError, match="is no path"):
            await client.get("/x HTTP/1.1\r\nEvil: yes")
        assert not server.asked

    run(use, answer())
