"""Leading: one at a time, whatever clocks say and whoever stands still."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
import pytest

from posse.kube.api.answers import Answer, LostError
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from posse.kube.api.credentials import Credential
from posse.kube.api.leases import Candidate, LeaseTiming
from posse.kube.api.server import Access, Server
from posse.kube.api.transport import Lines
from tests.kube.api.fakes import Clock, always

TIMING = LeaseTiming(duration=15, renew_within=10, retry=2)


class OneLease:
    """A server that has one lease, or none; it can be cut off, before a request or after it."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.deaf = False
        self.mute = False
        self.takes: Callable[[], None] = lambda: None

    async def send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], credential: Credential, deadline: float
    ) -> Answer:
        if self.deaf:
            raise LostError("deaf")
        self.takes()
        status, told = self.done(method, msgspec.json.decode(body) if body else {})
        if self.mute:
            raise LostError("mute")
        return Answer(status, {}, msgspec.json.encode(told))

    def done(self, method: str, given: dict[str, Any]) -> tuple[int, Any]:
        if method == "GET":
            return (200, self.lease) if self.lease else (404, {"reason": "NotFound"})
        if bool(self.lease) == (method == "POST"):
            return 409, {"reason": "Conflict"}
        if self.lease and given["metadata"].get("resourceVersion") != str(self.version):
            return 409, {"reason": "Conflict"}
        self.version += 1
        spec = {**(self.lease or {"spec": {}})["spec"], **given["spec"]}
        self.lease = {
            "metadata": {"name": given["metadata"]["name"], "resourceVersion": str(self.version)},
            "spec": {key: value for key, value in spec.items() if value is not None},
        }
        return 200, self.lease

    def stream(
        self, path: str, headers: Mapping[str, str], credential: Credential, quiet: float
    ) -> AbstractAsyncContextManager[tuple[Answer, Lines]]:
        raise NotImplementedError

    async def close(self) -> None: ...


class Someone:
    """A candidate with clocks of its own."""

    def __init__(self, server: OneLease, name: str, clock: Clock, wall: float = 1e9, **more: Any) -> None:
        self.clock = clock
        self.changes: list[bool] = []
        client = ApiClient(Access(Server("https://x")), server, backoff=Backoff(attempts=1))
        self.candidate = Candidate(
            client, "ns", "posse", name, timing=TIMING, clock=clock, wall_clock=lambda: wall + clock.now,
            on_change=self.changes.append, random=always(), **more,
        )  # fmt: skip

    def tries(self) -> bool:
        return asyncio.run(self.candidate.try_once())

    @property
    def leads(self) -> bool:
        return self.candidate.is_leader


def two(server: OneLease, b_is_ahead: float = 0.0) -> tuple[Someone, Someone]:
    """Two whose clocks are theirs alone: b's is in another decade, and may be wrong by any amount."""
    return Someone(server, "a", Clock(1000)), Someone(server, "b", Clock(77), wall=1e9 + b_is_ahead)


def passes(seconds: float, *people: Someone) -> None:
    for person in people:
        person.clock.now += seconds


def test_the_first_one_leads_and_the_second_does_not() -> None:
    a, b = two(OneLease())

    assert a.tries()
    assert not b.tries()
    assert b.candidate.leader == "a"
    assert (a.changes, b.changes) == ([True], [])


@pytest.mark.parametrize("b_is_ahead", [-1e6, 0.0, 1e6])
def test_who_renews_leads_for_ever_whatever_the_clocks_say(b_is_ahead: float) -> None:
    a, b = two(OneLease(), b_is_ahead)
    a.tries()
    for _ in range(50):
        b.tries()
        passes(8, a, b)
        assert a.tries()
        assert not b.leads


def test_who_stands_still_has_stopped_leading_before_another_one_starts() -> None:
    a, b = two(OneLease())
    a.tries()
    b.tries()
    led: list[tuple[bool, bool]] = []
    for _ in range(20):
        passes(1, a, b)
        b.tries()
        led.append((a.leads, b.leads))

    assert (True, True) not in led
    assert led[8] == (True, False)
    assert led[9] == (False, False)
    assert led[14] == (False, True)
    assert not a.tries()
    assert a.changes == [True, False]
    assert (a.candidate.leader, a.candidate.term, b.candidate.term) == ("b", 1, 1)


def test_who_is_cut_off_stops_leading_in_time() -> None:
    server = OneLease()
    a, _ = two(server)
    a.tries()
    server.deaf = True
    passes(8, a)
    assert a.tries()
    passes(2, a)
    assert not a.tries()
    assert a.changes == [True, False]
    assert a.candidate.trouble == "deaf"


def test_a_renewal_whose_answer_is_lost_is_found_again() -> None:
    server = OneLease()
    a, _ = two(server)
    a.tries()
    server.mute = True
    passes(8, a)
    a.tries()
    server.mute = False
    passes(1, a)

    assert a.tries()
    passes(9, a)
    assert a.leads


def test_leading_counts_from_when_it_was_asked_for() -> None:
    server = OneLease()
    a, _ = two(server)
    server.takes = lambda: passes(4, a)  # to look, and to take

    assert a.tries()
    passes(2, a)
    assert not a.leads


def test_the_lease_tells_people_since_when() -> None:
    server = OneLease()
    a, b = two(server)
    spec = []
    for someone, seconds in ((a, 0), (a, 8), (b, 0), (b, 15)):
        passes(seconds, a, b)
        someone.tries()
        assert server.lease is not None
        spec.append(server.lease["spec"])

    assert spec[1]["acquireTime"] == spec[0]["acquireTime"]
    assert spec[1]["renewTime"] > spec[0]["renewTime"]
    assert spec[3]["acquireTime"] == spec[3]["renewTime"]
    assert spec[3]["leaseTransitions"] == 1


def test_of_two_who_take_it_at_once_one_gets_it() -> None:
    server = OneLease()
    a, b = two(server)

    async def both() -> list[bool]:
        return await asyncio.gather(a.candidate.try_once(), b.candidate.try_once())

    assert sorted(asyncio.run(both())) == [False, True]


def test_who_gives_it_back_lets_another_one_lead_at_once() -> None:
    a, b = two(OneLease())
    a.tries()
    b.tries()
    asyncio.run(a.candidate.release())

    assert not a.leads
    assert b.tries()
    assert a.changes == [True, False]


def test_who_does_not_lead_gives_nothing_back() -> None:
    server = OneLease()
    a, b = two(server)
    a.tries()
    b.tries()
    asyncio.run(b.candidate.release())

    assert server.lease is not None
    assert server.lease["spec"]["holderIdentity"] == "a"


def test_what_a_holder_was_given_is_kept_to_even_if_we_would_give_less() -> None:
    server = OneLease()
    server.version = 1
    spec = {"holderIdentity": "old", "leaseDurationSeconds": 60, "renewTime": "2026-01-01T00:00:00.000000Z"}
    server.lease = {"metadata": {"name": "posse", "resourceVersion": "1"}, "spec": spec}
    a, _ = two(server)
    a.tries()
    passes(59, a)
    assert not a.tries()
    passes(1, a)
    assert a.tries()


def test_leading_goes_on_by_itself() -> None:
    server = OneLease()
    clock = Clock()
    a = Someone(server, "a", clock, sleep=clock.sleep)

    async def story() -> None:
        running = asyncio.create_task(a.candidate.run())
        while len(clock.slept) < 10:
            await asyncio.sleep(0)
        running.cancel()

    asyncio.run(story())
    assert a.leads
    assert server.version >= 10


def test_timings_that_would_let_two_lead_are_refused() -> None:
    with pytest.raises(ValueError, match="duration must exceed renew_within"):
        Candidate(
            ApiClient(Access(Server("https://x"))), "ns", "n", "me", timing=LeaseTiming(duration=10, renew_within=10)
        )
