"""An API server for one kind of request, and with every trouble that a real one may have.

It knows what really became of each pod, so tests can hold what was reported to that.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, repeat

from posse.kube.api.answers import ApiError, Cause, Details, LostError


@dataclass(frozen=True)
class Play:
    """What happens to one request.

    It arrives after `before` seconds, is carried out if `done`, and after `after` more is answered: as it deserves, or
    by `fault`. `ghost`: if nobody waits for the answer any more, it is carried out all the same, so much later.
    """

    fault: Exception | None = None
    done: bool = True
    before: float = 0.0
    after: float = 0.0
    ghost: float = 0.0


FINE = Play()
UNSENT = Play(LostError("no connection", sent=False), done=False)
LOST = Play(LostError("the server closed the connection"), done=False)
LOST_BUT_DONE = Play(LostError("the server closed the connection"))
BUSY = Play(ApiError(429, "TooManyRequests", "too many requests", retry_after=1), done=False)
FAILED = Play(ApiError(500, "InternalError", "POST /x: etcd is away"), done=False)
FAILED_BUT_DONE = Play(ApiError(504, "Timeout", "POST /x: request did not complete"))
FORBIDDEN = Play(ApiError(403, "Forbidden", "POST /x: admission says no"), done=False)
STRANGER = Play(ApiError(403, "Forbidden", 'POST /x: User "u" cannot create resource "pods/binding"'), done=False)
SLOW = Play(before=3, after=3)
SILENT = Play(before=1000)
SILENT_BUT_DONE = Play(after=1000)
GHOST = Play(before=1000, ghost=1)
"""Not answered, and carried out when the one who asked has gone and looked."""


@dataclass
class Pod:
    uid: str
    node: str = ""
    gated: bool = False


@dataclass
class Api:
    """The server. `plays` are used one per request, then all goes well; `of` are for one pod, and go first."""

    pods: dict[str, Pod] = field(default_factory=dict)
    plays: Iterator[Play] = field(default_factory=lambda: repeat(FINE))
    of: dict[str, Iterator[Play]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    asks: Callable[[str], object] = lambda asked: None
    bound: set[tuple[str, str]] = field(default_factory=set)
    """Which pods were really bound at our request, and to which node."""
    under_way: dict[str, int] = field(default_factory=dict)
    most: int = 0
    most_of_one: int = 0
    budget: str = ""

    def play(self, *plays: Play) -> None:
        self.plays = chain(plays, repeat(FINE))

    def play_for(self, pod: str, plays: Iterable[Play]) -> None:
        self.of[pod] = chain(plays, repeat(FINE))

    # what it is asked for

    async def bind(self, namespace: str, name: str, uid: str, node: str, *, deadline: float | None = None) -> None:
        def carried_out() -> None:
            pod = self._found(f"{namespace}/{name}", uid)
            if pod.node:
                raise conflict(f'pod {name} is already assigned to node "{pod.node}"')
            if pod.gated:
                raise conflict(f"pod {name} has non-empty .spec.schedulingGates")
            pod.node = node
            self.bound.add((uid, node))

        await self._request("bind", f"{namespace}/{name}", carried_out)

    async def get(self, path: str, *, deadline: float | None = None) -> bytes:
        *_, namespace, _, name = path.split("/")
        found: list[Pod] = []
        await self._request("get", f"{namespace}/{name}", lambda: found.append(self._found(f"{namespace}/{name}", "")))
        return json.dumps({"metadata": {"uid": found[0].uid}, "spec": {"nodeName": found[0].node}}).encode()

    async def evict(self, namespace: str, name: str, uid: str, *, grace: int | None = None) -> None:
        def carried_out() -> None:
            self._found(f"{namespace}/{name}", uid)
            if self.budget:
                causes = (Cause("DisruptionBudget", self.budget),)
                raise ApiError(429, "TooManyRequests", "Cannot evict pod", Details(causes=causes))
            del self.pods[f"{namespace}/{name}"]

        await self._request("evict", f"{namespace}/{name}", carried_out)

    async def delete(
        self, path: str, *, uid: str = "", version: str = "", grace: int | None = None, propagation: str = ""
    ) -> bytes:
        *_, namespace, _, name = path.split("/")

        def carried_out() -> None:
            self._found(f"{namespace}/{name}", uid)
            del self.pods[f"{namespace}/{name}"]

        await self._request("delete", f"{namespace}/{name}", carried_out)
        return b"{}"

    # how it answers

    def _found(self, key: str, uid: str) -> Pod:
        pod = self.pods.get(key)
        if pod is None:
            raise ApiError(404, "NotFound", f"pods {key} not found")
        if uid and pod.uid != uid:
            raise conflict(f"Precondition failed: UID in precondition: {uid}, UID in object meta: {pod.uid}")
        return pod

    async def _request(self, verb: str, pod: str, carried_out: Callable[[], object]) -> None:
        self.asked.append(f"{verb} {pod}")
        self.asks(f"{verb} {pod}")
        self.under_way[pod] = self.under_way.get(pod, 0) + 1
        self.most = max(self.most, sum(self.under_way.values()))
        self.most_of_one = max(self.most_of_one, self.under_way[pod])
        play = next(self.of.get(pod, self.plays))
        try:
            await asyncio.sleep(play.before)
            if play.done:
                carried_out()
            await asyncio.sleep(play.after)
            if play.fault:
                raise play.fault
        except asyncio.CancelledError:
            if play.ghost:
                asyncio.get_running_loop().call_later(play.ghost, haunt, carried_out)
            raise
        finally:
            self.under_way[pod] -= 1


def haunt(carried_out: Callable[[], object]) -> None:
    """Carry out what nobody waits for: whatever comes of it, nobody hears."""
    with suppress(ApiError):
        carried_out()


def conflict(why: str) -> ApiError:
    return ApiError(409, "Conflict", f'POST /x: Operation cannot be fulfilled on pods/binding "x": {why}')
