"""The pages that a scheduler gives: health, readiness, figures, explanations; and that asking cannot hurt it."""

import asyncio
import json
import re
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from posse.cluster.facts import Gone
from posse.cluster.records import Bound, CycleInput
from posse.dialects.translator import Translator
from posse.errors import InputError
from posse.kube.api.records import Synced
from posse.kube.objects import Pod
from posse.live import listening
from posse.live.explaining import explained
from posse.live.exposition import Histogram, exposed
from posse.live.figures import Figures, queue_depth
from posse.live.intake import Intake
from posse.live.listening import Address, Answer, Listener, Page, Request
from posse.live.loop import Loop
from posse.live.pages import Pages
from posse.live.waits import SECOND, Waits
from posse.scheduler.engine import Engine
from posse.scheduler.metrics.readings import PROMISED, REASONS, UNTOLD
from posse.scheduler.metrics.tally import Tally
from tests.builders import conf, crew, engine, gang, node, queue, task
from tests.cluster.control_plane import ControlPlane, free_port
from tests.cluster.waiting import comes_true
from tests.live import clusters

SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')


def read(text: str) -> dict[str, float]:
    """Read an exposition as strictly as its form is: families whole, one type for each, samples that parse."""
    kinds: dict[str, str] = {}
    samples: dict[str, float] = {}
    family = ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in kinds, f"{family} comes twice"
            kinds[family] = kind
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        name = re.sub("_(bucket|sum|count)$", "", sample[1]) if kinds[family] == "histogram" else sample[1]
        assert name == family, f"{line} stands under {family}"
        key = line.rpartition(" ")[0]
        assert key not in samples, f"{key} comes twice"
        samples[key] = float(sample[3])
    return samples


# ------------------------------------------------------------------ figures


def test_a_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram("it_seconds", (0.1, 1))
    for value in (0.05, 0.1, 0.5, 7):
        histogram.observe(value)

    assert read(exposed({}, [histogram])) == {
        'it_seconds_bucket{le="0.1"}': 2,
        'it_seconds_bucket{le="1"}': 3,
        'it_seconds_bucket{le="+Inf"}': 4,
        "it_seconds_sum": pytest.approx(7.65),
        "it_seconds_count": 4,
    }


def test_families_stand_together_and_say_what_they_are() -> None:
    figures = {"a": 1.0, "a_total": 2.0, 'b{x="1"}': 0.5, 'b{x="2"}': float("inf"), "c": float("nan")}
    text = exposed(figures, ())

    assert "# TYPE a gauge\na 1\n# TYPE a_total counter\na_total 2\n# TYPE b gauge\n" in text
    assert read(text)['b{x="2"}'] == float("inf")
    assert text.endswith("c NaN\n")


def test_a_name_cannot_break_out_of_its_label() -> None:
    running = engine(conf("gang"), queue('q"} 9\nposse_is_leader 1 \\'))
    assert "\nposse_is_leader" not in Figures().text(running, ())
    assert read(Figures().text(running, ()))


def test_the_depth_of_a_queue_is_how_many_pods_wait_in_it() -> None:
    running = engine(conf("gang"), queue("b"), node("n"), gang("a", min=9), *crew("a", 3), gang("c", queue="b"))
    assert {each.labels[0][1]: each.value for each in queue_depth(running.world)} == {"default": 3, "b": 0}


def test_everything_that_is_told_can_be_read() -> None:
    running, figures = engine(conf("gang", "drf proportion"), node("n"), gang("a", min=99), *crew("a", 3)), Figures()
    figures.learn(running.cycle(CycleInput(0)), running.world)

    found = read(figures.text(running, ()))
    assert found['posse_waiting_gangs{queue_name="default",reason="validity"}'] == 1
    assert found['posse_queue_depth{queue_name="default"}'] == 3
    assert found['posse_outcomes_total{outcome="refused"}'] == 0
    assert found["process_resident_memory_bytes"] > 1e6


class Waiting:
    """An engine, and who is told to have waited how long."""

    def __init__(self) -> None:
        self.engine = engine(conf("gang", "predicates"), node("n", cpu=2))
        self.told: list[tuple[str, float]] = []
        self._waits = Waits(self.engine.world, lambda gang, seconds: self.told.append((gang, seconds)))

    def cycle(self, at: float, *observations: Any, bound: int = 0) -> None:
        outcomes = tuple(Bound(f"default/a-worker-{number}", f"a-worker-{number}", "n") for number in range(bound))
        now = round(at * SECOND)
        self._waits(now, self.engine.cycle(CycleInput(now, observations, outcomes)))


def test_a_gang_waits_from_when_it_is_seen_until_its_minimum_is_bound() -> None:
    waiting = Waiting()
    waiting.cycle(100.25, gang("a", min=2, created=100 * SECOND), *crew("a", 2))
    assert waiting.told == []
    waiting.cycle(100.75, bound=2)
    waiting.cycle(101)

    assert waiting.told == [("default/a", 0.5)]


def test_one_that_was_there_before_us_waits_from_when_it_was_created() -> None:
    waiting = Waiting()
    waiting.cycle(100, gang("a", min=2, created=40 * SECOND), *crew("a", 2))
    waiting.cycle(101, bound=2)

    assert waiting.told == [("default/a", 61.0)]


def test_what_comes_after_its_minimum_is_not_waited_for() -> None:
    waiting = Waiting()
    waiting.cycle(1, gang("a", min=1, created=SECOND), *crew("a", 1))
    waiting.cycle(2, bound=1)
    waiting.cycle(3, *crew("a", 2)[1:])
    waiting.cycle(9)

    assert waiting.told == [("default/a", 1.0)]


def test_another_gang_of_the_same_name_waits_for_itself() -> None:
    waiting = Waiting()
    waiting.cycle(1, gang("a", min=2, created=SECOND))
    waiting.cycle(5, Gone(kind="gang", key="default/a"))
    waiting.cycle(8, structs.replace(gang("a", min=2, created=8 * SECOND), uid="other"), *crew("a", 2))
    waiting.cycle(9, bound=2)

    assert waiting.told == [("default/a", 1.0)]


# ------------------------------------------------------------------ whether it is well


def test_a_loop_that_stands_still_is_told() -> None:
    now = 0.0
    intake = Intake(Translator(["posse"]), [Pod])
    running = engine(conf("gang"))
    beats: list[float] = []
    loop = Loop(running, intake, (), may_decide=lambda: True, clock=lambda: 0, beat=beats.append, seconds=lambda: now)
    now = 1000.0
    assert loop.silence() == 0  # it waits for an API server
    intake.put(Synced(Pod))
    loop.step()
    now = 1030.0
    assert loop.silence() == 0
    now = 1031.0
    assert loop.silence() == 31
    assert beats == [0.0]


class Stub:
    """A scheduler as the pages see it."""

    def __init__(self, **given: Any) -> None:
        self.leader, self._given = "somebody", {"leads": True, "ready": True, "silence": 0.0} | given

    def leads(self) -> bool:
        return bool(self._given["leads"])

    def is_ready(self) -> bool:
        return bool(self._given["ready"])

    def silence(self) -> float:
        return float(self._given["silence"])

    def metrics(self) -> str:
        return "up 1\n"

    def explain(self, gang: str) -> Mapping[str, Any] | None:
        return {"gang": gang} if gang == "ns/a" else None


def asked(path: str, *, ending: bool = False, near: bool = True, **given: Any) -> tuple[int, str]:
    pages = Pages(Stub(**given))
    pages.is_ending = ending
    bare, _, gang = path.partition("?gang=")
    answer = pages.by_path()[bare].give(Request("GET", bare, {"gang": gang} if gang else {}, near))
    return answer.status, answer.body


def test_who_leads_and_who_stands_by_are_both_ready() -> None:
    assert asked("/readyz") == (200, "ok: leads\n")
    assert asked("/readyz", leads=False) == (200, "ok: stands by\n")
    assert asked("/readyz", ready=False)[0] == 503
    assert asked("/readyz", ending=True)[0] == 503


def test_who_waits_for_a_server_is_well() -> None:
    assert asked("/healthz", ready=False) == (200, "ok\n")
    assert asked("/healthz", silence=61.5) == (503, "stands still for 62 s\n")


def test_gangs_of_others_are_explained_on_the_loopback_only() -> None:
    assert asked("/debug/explain?gang=ns/a") == (200, '{"gang":"ns/a"}\n')
    assert asked("/debug/explain?gang=ns/a", near=False)[0] == 403
    assert asked("/debug/explain?gang=ns/b")[0] == 404
    assert asked("/debug/explain")[0] == 400
    status, said = asked("/debug/explain?gang=ns/a", leads=False)
    assert status == 503
    assert "somebody leads" in said


# ------------------------------------------------------------------ explanations


def explanation(running: Engine, name: str) -> Any:
    tally = Tally()
    tally.learn(running.cycle(CycleInput(0)), running.world)
    return explained(running, tally, name)


def test_one_that_waits_is_explained_by_what_was_found() -> None:
    running = engine(conf("gang", "predicates"), node("n", cpu=2), gang("a", min=3), *crew("a", 3), gang("b"))
    found = explanation(running, "default/a")

    assert (found["gang"], found["state"], found["cycle"], found["searched"]) == ("default/a", "waiting", 1, "cut")
    assert found["summary"].startswith("waits: 0/1 nodes")
    assert found["blockers"][0]["nodes"] == {"insufficient cpu": 1}
    assert found["position"]["queue"] == 1
    assert found["remedies"] == ()


def test_one_that_has_started_is_told_so() -> None:
    found = explanation(engine(conf("gang", "predicates"), node("n"), gang("a", min=2), *crew("a", 2)), "default/a")
    assert (found["state"], found["summary"][:15]) == ("placed", "has its minimum")


def test_nobody_is_not_explained() -> None:
    assert explanation(engine(conf("gang"), node("n"), task("x")), "default/x") is None


# ------------------------------------------------------------------ whoever asks


def served(
    pages: Mapping[str, Page], told: Callable[[Callable[[bytes], Awaitable[bytes]], int], Awaitable[None]]
) -> None:
    """Listen, and give a test a way to send bytes and get what comes back."""

    async def at_work() -> None:
        async with Listener(pages, seconds=0.5).at(Address("127.0.0.1", 0)) as port:

            async def send(given: bytes) -> bytes:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(given)
                    return await reader.read()
                except ConnectionError:
                    return b""
                finally:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()

            await told(send, port)

    asyncio.run(at_work())


def page(text: str) -> Page:
    return Page(lambda request: Answer(f"{text} {request.query.get('x', '')} {request.near}"))


GET = b"GET %b HTTP/1.1\r\nHost: h\r\n\r\n"


def test_a_page_is_given() -> None:
    async def told(send: Callable[[bytes], Awaitable[bytes]], port: int) -> None:
        answer = await send(GET % b"/a?x=1%2F2")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"Content-Length: 10" in head
        assert body == b"a 1/2 True"
        assert (await send(b"HEAD /a HTTP/1.1\r\n\r\n")).endswith(b"\r\n\r\n")

    served({"/a": page("a")}, told)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (GET % b"/b", 404),
        (b"POST /a HTTP/1.1\r\n\r\n", 405),
        (b"\r\n\r\n", 400),
        (b"GET http://other/ HTTP/1.1\r\n\r\n", 400),
        (b"GET //[ HTTP/1.1\r\n\r\n", 400),
        (b"\xff\xfe GET\r\n\r\n", 400),
        (b"GET /a?" + b"x=1&" * 50 + b" HTTP/1.1\r\n\r\n", 400),
        (b"GET /a HTTP/1.1\r\nx: " + b"y" * 20_000, 431),
    ],
)
def test_what_is_no_request_is_answered_so(request_: bytes, status: int) -> None:
    async def told(send: Callable[[bytes], Awaitable[bytes]], port: int) -> None:
        answer = await send(request_)
        assert answer.startswith(b"HTTP/1.1 %d " % status) or (status == 431 and not answer)

    served({"/a": page("a")}, told)


def test_who_says_nothing_is_not_waited_for() -> None:
    async def told(send: Callable[[bytes], Awaitable[bytes]], port: int) -> None:
        assert await send(b"GET /a") == b""

    served({"/a": page("a")}, told)


def test_connections_that_are_held_open_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MOST_CONNECTIONS", 4)

    async def told(send: Callable[[bytes], Awaitable[bytes]], port: int) -> None:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        assert b"200 OK" in await send(GET % b"/a")
        for _, writer in held:
            writer.transport.abort()

    served({"/a": page("a")}, told)


def test_costly_pages_get_a_part_of_the_time_and_others_do_not_wait_for_them() -> None:
    now = 0.0
    slept: list[float] = []

    def costly(request: Request) -> Answer:
        nonlocal now
        now += 0.25
        return Answer("dear")

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def at_work() -> None:
        listener = Listener({"/dear": Page(costly, costly=True), "/a": page("a")}, clock=lambda: now, sleep=sleep)
        async with listener.at(Address("127.0.0.1", 0)) as port:
            for path in ("/dear", "/dear", "/a"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(GET % path.encode())
                assert b"200 OK" in await reader.read()
                writer.close()
                await writer.wait_closed()

    asyncio.run(at_work())
    assert slept == [0, 0.25 * listening.REST]


def test_a_port_that_is_taken_is_told() -> None:
    async def told(send: Callable[[bytes], Awaitable[bytes]], port: int) -> None:
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{port}"):
            async with Listener({}).at(Address("127.0.0.1", port)):
                pass

    served({}, told)


# ------------------------------------------------------------------ what the page says

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")


def bare(key: str) -> str:
    """The name of a family as the page has it."""
    return f"`{re.sub('_(bucket|sum|count)$', '', key.partition('{')[0])}`"


def test_the_page_gives_reasons_in_the_order_that_holds() -> None:
    table = PAGE.partition("## What gangs wait for")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == (PROMISED, *REASONS, UNTOLD)


# ------------------------------------------------------------------ on a cluster


def fetched(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()


def test_a_scheduler_at_work_gives_its_pages(control_plane: ControlPlane, namespace: str, volcano_crds: None) -> None:
    name, port = f"{namespace}-n1", free_port()
    clusters.add_nodes(control_plane, clusters.node(name))
    with clusters.scheduler(control_plane, "--listen", f"127.0.0.1:{port}", "--log-format", "json") as posse:
        clusters.apply(control_plane, clusters.whole(namespace, "a", 3))
        nowhere = clusters.crew(namespace, "b", 1, nodeSelector={"no": "where"})
        clusters.apply(control_plane, [clusters.gang(namespace, "b", 1), *nowhere])
        assert clusters.comes_to(control_plane, namespace, "a", 3)

        def figures() -> dict[str, float]:
            return read(fetched(port, "/metrics")[1])

        assert comes_true(lambda: figures().get("posse_gang_wait_seconds_count") == 1)
        assert comes_true(lambda: 'posse_waiting_gangs{queue_name="default",reason="nodes"}' in figures())
        found = figures()
        assert found['posse_outcomes_total{outcome="bound"}'] >= 3
        assert found['posse_queue_depth{queue_name="default"}'] >= 1
        assert found["posse_bind_seconds_count"] >= 3
        assert found["posse_is_leader"] == 1
        assert found["posse_api_limit"] >= 2
        assert [key for key in found if key.startswith(("posse_", "process_")) and bare(key) not in PAGE] == []
        assert fetched(port, "/healthz") == (200, "ok\n")
        assert fetched(port, "/readyz") == (200, "ok: leads\n")
        explained = json.loads(fetched(port, f"/debug/explain?gang={namespace}/b")[1])
        assert explained["blockers"][0]["kind"] == "nodes"
        assert fetched(port, f"/debug/explain?gang={namespace}/c")[0] == 404

        records = [json.loads(line) for line in clusters.said(posse).splitlines()]
        placed = next(each for each in records if each["message"] == "gang placed" and each["gang"].endswith("/a"))
        assert (placed["gang"], placed["pods"]) == (f"{namespace}/a", 3)
        said = {each["message"] for each in records}
        assert said >= {"starting", "listening", "leading", "ready: all kinds are listed", "cycle"}
    control_plane.client.delete(f"/api/v1/nodes/{name}")
