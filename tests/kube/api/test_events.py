"""Events: told without waiting, counted when repeated, dropped when there are too many."""

import asyncio
from typing import Any

import msgspec

from posse.kube.api.events import EventLimits, EventRecorder, Reference
from tests.kube.api.fakes import Clock, always
from tests.kube.api.stub import HANGS_UP, Play, Stub, answer, client_of, refused, stub

POD = Reference("v1", "Pod", "p", "ns", "uid")


def written(use: Any, *plays: Play, limits: EventLimits = EventLimits(), clock: Clock | None = None) -> Any:  # noqa: B008
    """What is sent to the server, as method, path and body, and how many were dropped."""
    clock = clock or Clock()

    async def story() -> tuple[list[tuple[str, str, Any]], int]:
        async with (
            stub(*(plays or (answer(),))) as server,
            client_of(server, clock=clock, sleep=clock.sleep, random=always()) as client,
        ):
            recorder = EventRecorder(client, "posse.dev", "posse-1", limits=limits, clock=clock, wall_clock=clock)
            await use(recorder, server, clock)
            return [(it.method, it.path, msgspec.json.decode(it.body)) for it in server.asked], recorder.dropped

    return asyncio.run(story())


def test_an_event_is_as_the_api_wants_it() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        recorder.tell(POD, "Unschedulable", "no room", type="Warning")
        await recorder.flush()

    ((method, path, body),), dropped = written(use)

    assert (method, path, dropped) == ("POST", "/apis/events.k8s.io/v1/namespaces/ns/events", 0)
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "p.e8d4a51000"},
        "eventTime": "1970-01-01T00:16:40.000000Z",
        "reportingController": "posse.dev",
        "reportingInstance": "posse-1",
        "type": "Warning",
        "reason": "Unschedulable",
        "action": "Scheduling",
        "note": "no room",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "ns", "uid": "uid"},
    }


def test_the_same_again_is_counted() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        for _ in range(3):
            for _ in range(2):
                recorder.tell(POD, "Unschedulable", "no room")
                clock.now += 1
            await recorder.flush()
        recorder.tell(POD, "Unschedulable", "something else")
        await recorder.flush()

    asked, dropped = written(use)

    assert [method for method, _, _ in asked] == ["POST", "PATCH", "PATCH", "POST"]
    assert asked[0][2]["series"] == {"count": 2, "lastObservedTime": "1970-01-01T00:16:41.000000Z"}
    assert asked[2][2] == {"series": {"count": 6, "lastObservedTime": "1970-01-01T00:16:45.000000Z"}}
    assert dropped == 0


def test_after_a_while_the_same_is_something_new() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        for _ in range(2):
            recorder.tell(POD, "Unschedulable", "no room")
            await recorder.flush()
            clock.now += 360

    asked, _ = written(use)

    assert [method for method, _, _ in asked] == ["POST", "POST"]
    assert asked[0][2]["metadata"] != asked[1][2]["metadata"]


def test_an_event_that_the_server_has_forgotten_is_written_anew() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        for _ in range(2):
            recorder.tell(POD, "Unschedulable", "no room")
            await recorder.flush()

    asked, dropped = written(use, answer(), refused(404, "NotFound"), answer())

    assert [method for method, _, _ in asked] == ["POST", "PATCH", "POST"]
    assert dropped == 0


def test_an_event_that_was_sent_twice_arrived() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        recorder.tell(POD, "Unschedulable", "no room")
        await recorder.flush()

    asked, dropped = written(use, HANGS_UP, refused(409, "AlreadyExists"))

    assert asked[0] == asked[1]
    assert dropped == 0


def test_one_object_gets_no_more_than_its_share() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        for number in range(10):
            recorder.tell(POD, "Told", f"note {number}")
        recorder.tell(Reference("v1", "Pod", "other", "ns", "o"), "Told", "note")
        clock.now += 300
        recorder.tell(POD, "Told", "after a while")
        await recorder.flush()

    asked, dropped = written(use, limits=EventLimits(burst=3))

    assert [body["note"] for _, _, body in asked] == ["note 0", "note 1", "note 2", "note", "after a while"]
    assert dropped == 7


def test_no_more_wait_than_there_is_room_for() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        for number in range(10):
            recorder.tell(Reference("v1", "Pod", f"p{number}", "ns", str(number)), "Told", "note")
        await recorder.flush()

    asked, dropped = written(use, limits=EventLimits(waiting=4))

    assert (len(asked), dropped) == (4, 6)


def test_what_cannot_be_written_is_dropped_and_the_next_one_is_written() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        recorder.tell(POD, "Told", "one")
        recorder.tell(POD, "Told", "two")
        await recorder.flush()

    asked, dropped = written(use, refused(403, "Forbidden"), answer())

    assert (len(asked), dropped) == (2, 1)


def test_it_is_written_while_others_work() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        writing = asyncio.create_task(recorder.run())
        for number in range(3):
            recorder.tell(POD, "Told", f"note {number}")
            while len(server.asked) <= number:
                await asyncio.sleep(0)
        writing.cancel()

    asked, _ = written(use)

    assert len(asked) == 3


def test_long_notes_and_names_are_cut_to_what_the_server_takes() -> None:
    async def use(recorder: EventRecorder, server: Stub, clock: Clock) -> None:
        recorder.tell(Reference("v1", "Node", "n" * 253), "Told", "ä" * 2000)
        await recorder.flush()

    ((_, path, body),), _ = written(use)

    assert path == "/apis/events.k8s.io/v1/namespaces/default/events"
    assert len(body["note"].encode()) <= 1024
    assert len(body["metadata"]["name"]) <= 253
