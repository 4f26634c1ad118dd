"""A watch against a server that does anything a server may do: in the end what was told adds up to what is there."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.kube.api.answers import Answer, LostError
from posse.kube.api.client import ApiClient
from posse.kube.api.credentials import Credential
from posse.kube.api.records import Record, Seen, Synced, Vanished
from posse.kube.api.resources import resource_of
from posse.kube.api.server import Access, Server
from posse.kube.api.watching import Watch
from posse.kube.objects import Pod
from tests.kube.api.fakes import Clock, always

NAMES = "abc"
change = st.tuples(st.sampled_from(["write", "delete", "replace"]), st.sampled_from(NAMES))
fault = st.sampled_from(["cut", "end", "refuse", "repeat", "bookmark", "resume"])
steps = st.lists(st.one_of(change, st.tuples(fault, st.just("")), st.just(("forget", ""))), max_size=40)


class ModelServer:
    """Objects, their history, and what goes wrong. Steps are taken when a watch has heard all that there is to hear."""

    def __init__(self, script: list[tuple[str, str]], streams_lists: bool, page: int) -> None:
        self.script = script[::-1]
        self.streams_lists = streams_lists
        self.page = page
        self.there: dict[str, dict[str, Any]] = {}
        self.version = 1
        self.forgotten = 0
        self.history: list[tuple[int, str, dict[str, Any]]] = []
        self.snapshots: dict[str, list[dict[str, Any]]] = {}
        self.uids = 0
        self.done = asyncio.Event()

    # what happens

    def write(self, name: str) -> None:
        self.version += 1
        old = self.there.get(name)
        self.uids += old is None
        uid = old["metadata"]["uid"] if old else f"uid-{self.uids}"
        meta = {"name": name, "namespace": "ns", "uid": uid, "resourceVersion": str(self.version)}
        self.there[name] = {"metadata": meta}
        self.history.append((self.version, "MODIFIED" if old else "ADDED", self.there[name]))

    def delete(self, name: str) -> None:
        if old := self.there.pop(name, None):
            self.version += 1
            last = {"metadata": {**old["metadata"], "resourceVersion": str(self.version)}}
            self.history.append((self.version, "DELETED", last))

    def replace(self, name: str) -> None:
        self.delete(name)
        self.write(name)

    def happens(self, what: str, name: str) -> None:
        if what == "forget":
            self.forgotten = self.version
        elif what in ("write", "delete", "replace"):
            getattr(self, what)(name)

    def while_nobody_listens(self) -> None:
        while self.script and self.script[-1][0] != "resume":
            self.happens(*self.script.pop())

    # what is asked

    async def send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], credential: Credential, deadline: float
    ) -> Answer:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        version, _, start = asked.get("continue", f"{self.version}:0").partition(":")
        if int(version) < self.forgotten:
            return self.refusal(410, "Expired")
        items = self.snapshots.setdefault(version, [*self.there.values()])[int(start) :]
        meta = {"resourceVersion": version}
        if "limit" in asked and len(items) > self.page:
            meta["continue"] = f"{version}:{int(start) + self.page}"
            items = items[: self.page]
        if self.script:  # something happens between two pages
            self.happens(*self.script.pop())
        return Answer(200, {}, msgspec.json.encode({"metadata": meta, "items": items}))

    @asynccontextmanager
    async def stream(
        self, path: str, headers: Mapping[str, str], credential: Credential, quiet: float
    ) -> AsyncIterator[tuple[Answer, AsyncIterator[list[bytes]]]]:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        if "sendInitialEvents" in asked and not self.streams_lists:
            yield self.refusal(400, "BadRequest"), self.nothing()
        elif self.script and self.script[-1][0] == "refuse":
            self.script.pop()
            yield self.refusal(503, "ServiceUnavailable"), self.nothing()
        else:
            yield Answer(200, {}, b""), self.told(asked)

    def refusal(self, status: int, reason: str) -> Answer:
        return Answer(status, {}, msgspec.json.encode({"reason": reason, "code": status, "message": "no"}))

    async def nothing(self) -> AsyncIterator[list[bytes]]:
        return
        yield

    async def told(self, asked: dict[str, str]) -> AsyncIterator[list[bytes]]:
        heard = int(asked.get("resourceVersion", "0"))
        if "sendInitialEvents" in asked:
            async for texts in self.listed():
                yield texts
            heard = self.version
        elif heard < self.forgotten:
            yield [line("ERROR", {"code": 410, "reason": "Expired", "message": "too old"})]
            return
        while True:
            news = [(version, line(kind, it)) for version, kind, it in self.history if version > heard]
            if news:
                heard = news[-1][0]
                yield [text for _, text in news]
            elif not self.script:
                self.done.set()
                await asyncio.Event().wait()
            match self.script.pop() if self.script else ("", ""):
                case ("cut" | "end" as how, _):
                    self.while_nobody_listens()
                    if how == "end":
                        return
                    raise LostError("cut")
                case ("bookmark", _):
                    yield [line("BOOKMARK", {"metadata": {"resourceVersion": str(heard)}})]
                case ("repeat", _) if self.history:
                    yield [line(self.history[-1][1], self.history[-1][2])]
                case (what, name):
                    self.happens(what, name)

    async def listed(self) -> AsyncIterator[list[bytes]]:
        for it in [*self.there.values()]:
            yield [line("ADDED", it)]
            if self.script and self.script[-1][0] == "cut":
                self.script.pop()
                raise LostError("cut in the list")
        end = {"resourceVersion": str(self.version), "annotations": {"k8s.io/initial-events-end": "true"}}
        yield [line("BOOKMARK", {"metadata": end})]

    async def close(self) -> None: ...


def line(kind: str, it: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": kind, "object": it})


def listen(server: ModelServer) -> list[Record]:
    told: list[Record] = []

    async def story() -> None:
        clock = Clock()
        client = ApiClient(Access(Server("https://x")), server, clock=clock, sleep=clock.sleep, random=always())
        watch = Watch(client, resource_of(Pod), sleep=clock.sleep, random=always(), page=server.page)

        async def take() -> None:
            async with aclosing(watch.records()) as batches:
                async for records in batches:
                    told.extend(records)

        task = asyncio.create_task(take())
        waiting = asyncio.create_task(server.done.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED, timeout=30)
        for one in (task, waiting):
            one.cancel()
        results = await asyncio.gather(task, waiting, return_exceptions=True)
        assert server.done.is_set(), results

    asyncio.run(story())
    return told


@settings(max_examples=300)
@given(script=steps, streams_lists=st.booleans(), page=st.integers(1, 3), before=st.sets(st.sampled_from(NAMES)))
def test_what_was_told_adds_up_to_what_is_there(
    script: list[tuple[str, str]], streams_lists: bool, page: int, before: set[str]
) -> None:
    server = ModelServer(script, streams_lists, page)
    for name in sorted(before):
        server.write(name)
    told = listen(server)

    view: dict[str, tuple[str, str]] = {}
    for record in told:
        match record:
            case Seen(it, version):
                name, uid = it.metadata.name, it.metadata.uid
                old_uid, old_version = view.get(name, (uid, "0"))
                assert old_uid == uid  # the end of the one comes before its successor
                assert int(version) > int(old_version)  # and nothing is told twice, or late
                view[name] = (uid, version)
            case Vanished():
                assert view.pop(record.name)[0] == record.uid
    metas = [it["metadata"] for it in server.there.values()]
    assert view == {it["name"]: (it["uid"], it["resourceVersion"]) for it in metas}
    assert Synced(Pod) in told
