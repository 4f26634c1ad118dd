"""Watches: whatever happens to connections and servers, whoever listens ends up with what is there."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from posse.kube.api.answers import ApiError
from posse.kube.api.client import ApiClient
from posse.kube.api.records import Interrupted, Record, Seen, Synced, Unreadable, Vanished
from posse.kube.api.resources import resource_of
from posse.kube.api.watching import Selection, Timing, Watch
from posse.kube.objects import Pod
from tests.kube.api.fakes import Clock, always
from tests.kube.api.stub import HANGS_UP, SILENCE, Asked, Play, Writer, answer, client_of, events, raw, refused, stub

PODS = resource_of(Pod)


def pod(name: str, version: int, uid: str = "", **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "ns", "uid": uid or f"uid-{name}", "resourceVersion": str(version)}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec}


def added(name: str, version: int, **more: Any) -> dict[str, Any]:
    return {"type": "ADDED", "object": pod(name, version, **more)}


def modified(name: str, version: int, **more: Any) -> dict[str, Any]:
    return {"type": "MODIFIED", "object": pod(name, version, **more)}


def deleted(name: str, version: int, **more: Any) -> dict[str, Any]:
    return {"type": "DELETED", "object": pod(name, version, **more)}


def bookmark(version: int, **annotations: str) -> dict[str, Any]:
    meta = {"resourceVersion": str(version), "annotations": {f"k8s.io/{k}": v for k, v in annotations.items()}}
    return {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": meta}}


def listed(version: int) -> dict[str, Any]:
    return bookmark(version, **{"initial-events-end": "true"})


GONE = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}


def page(version: int, *pods: dict[str, Any], more: str = "") -> Play:
    return answer({"metadata": {"resourceVersion": str(version), "continue": more}, "items": list(pods)})


def short(record: Record) -> str:
    match record:
        case Seen(it, version):
            return f"{it.metadata.name}@{version}"
        case Vanished():
            return f"-{record.name}"
        case Unreadable():
            return f"?{record.name}"
        case Synced():
            return "synced"
        case _:
            return "interrupted"


class Told(list[str]):
    """What was told in short, and what was asked."""

    asked: list[Asked]
    records: list[Record]
    slept: list[float]
    known: int


def told_by(*plays: Play, until: str, timing: Timing = Timing(), **more: Any) -> Told:  # noqa: B008
    """What a watch tells until it says something."""
    clock = Clock()

    async def story() -> Told:
        told = Told()
        told.records = []
        async with stub(*plays) as server, client_of(server, clock=clock, sleep=clock.sleep, random=always()) as client:
            watch = Watch(client, PODS, timing=timing, sleep=clock.sleep, random=always(), **more)
            async with asyncio.timeout(20), aclosing(watch.records()) as batches:
                async for records in batches:
                    told.records += records
                    told += map(short, records)
                    if until in told:
                        break
            told.asked, told.slept, told.known = server.asked, clock.slept, watch.known
        return told

    return asyncio.run(story())


def test_first_what_is_there_then_what_happens() -> None:
    told = told_by(
        events(added("a", 5), added("b", 3), listed(9), modified("b", 10), deleted("a", 11), stays=True), until="-a"
    )

    assert told == ["a@5", "b@3", "synced", "b@10", "-a"]
    assert told.known == 1
    assert told.asked[0].path == (
        "/api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true"
        "&resourceVersionMatch=NotOlderThan&timeoutSeconds=300"
    )


def test_selectors_are_asked_for() -> None:
    selection = Selection("ns", fields="spec.nodeName=n", labels="a in (b)")
    told = told_by(events(listed(9), stays=True), until="synced", selection=selection)

    assert told.asked[0].path.startswith("/api/v1/namespaces/ns/pods?watch=1")
    assert told.asked[0].path.endswith("&fieldSelector=spec.nodeName%3Dn&labelSelector=a+in+%28b%29")


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_streaming_lists_is_read_page_by_page(status: int) -> None:
    told = told_by(
        refused(status, "Invalid", "sendInitialEvents is forbidden"),
        page(9, pod("a", 5), more="x"),
        page(9, pod("b", 3)),
        events(modified("b", 10), stays=True),
        until="b@10",
    )

    assert told == ["a@5", "b@3", "synced", "b@10"]
    assert "resourceVersion=9" in told.asked[3].path


def test_a_connection_that_ends_is_opened_again_where_it_was() -> None:
    told = told_by(
        events(added("a", 5), listed(9), modified("a", 12)),
        events(modified("a", 13), bookmark(20)),
        events(modified("a", 21), stays=True),
        until="a@21",
    )

    assert told == ["a@5", "synced", "a@12", "a@13", "a@21"]
    assert ["resourceVersion=12" in it.path for it in told.asked] == [False, True, False]
    assert "resourceVersion=20" in told.asked[2].path


def test_half_a_line_is_nothing() -> None:
    told = told_by(
        events(added("a", 5), listed(9), cut=b'{"type":"MODIFIED","object":{"metadata":{"name":"a","uid":"uid-a","re'),
        events(modified("a", 10), stays=True),
        until="a@10",
    )

    assert told == ["a@5", "synced", "interrupted", "a@10"]
    assert "resourceVersion=9" in told.asked[1].path


def test_what_is_too_old_is_listed_anew_and_the_difference_told() -> None:
    told = told_by(
        events(added("a", 5), added("b", 6), added("c", 7), listed(9), modified("a", 10), GONE),
        events(added("a", 10), added("c", 30, uid="another"), added("d", 31), listed(40), stays=True),
        until="d@31",
    )
    told_after = told[told.index("interrupted") :]

    assert told[:5] == ["a@5", "b@6", "c@7", "synced", "a@10"]
    assert told_after[:4] == ["interrupted", "-c", "c@30", "d@31"]


def test_what_vanished_while_nobody_looked_is_told_with_its_uid() -> None:
    told = told_by(
        events(added("a", 5), added("b", 6), listed(9), GONE), events(added("a", 5), listed(40), stays=True), until="-b"
    )

    assert told == ["a@5", "b@6", "synced", "interrupted", "-b", "synced"]
    assert Vanished(Pod, "ns", "b", "uid-b") in told.records


def test_pages_that_run_out_are_read_in_one() -> None:
    told = told_by(
        refused(400, "BadRequest"),
        page(9, pod("a", 5), more="x"),
        refused(410, "Expired"),
        page(11, pod("b", 10)),
        events(stays=True),
        until="synced",
        page=1,
    )

    assert told == ["a@5", "interrupted", "b@10", "-a", "synced"]
    assert "limit" in told.asked[1].path
    assert "limit" not in told.asked[3].path


def test_what_is_older_or_the_same_is_not_told() -> None:
    told = told_by(
        events(added("a", 5), listed(9), added("a", 5), modified("a", 4), modified("a", 10), stays=True), until="a@10"
    )

    assert told == ["a@5", "synced", "a@10"]


def test_the_end_of_a_namesake_is_not_the_end_of_its_successor() -> None:
    told = told_by(
        events(added("a", 5, uid="1"), listed(9), added("a", 11, uid="2"), deleted("a", 10, uid="1")),
        events(modified("a", 12, uid="2"), stays=True),
        until="a@12",
    )

    assert told == ["a@5", "synced", "-a", "a@11", "a@12"]


def test_late_news_of_a_predecessor_are_no_news() -> None:
    told = told_by(
        events(added("a", 11, uid="2"), listed(11), modified("a", 5, uid="1"), modified("a", 12, uid="2"), stays=True),
        until="a@12",
    )

    assert told == ["a@11", "synced", "a@12"]


def test_what_ends_while_it_is_being_listed_has_ended() -> None:
    told = told_by(events(added("a", 5), added("b", 6), deleted("a", 8), listed(9), stays=True), until="synced")

    assert told == ["a@5", "b@6", "-a", "synced"]


def test_a_list_is_believed_even_if_versions_went_back() -> None:
    told = told_by(
        events(added("a", 50), listed(90), GONE),
        events(added("a", 5), listed(9), modified("a", 10), stays=True),
        until="a@10",
    )

    assert told == ["a@50", "synced", "interrupted", "a@5", "synced", "a@10"]


def test_a_server_that_has_gone_back_to_a_backup_is_listed_anew() -> None:
    told = told_by(
        events(added("a", 50), listed(90), bookmark(9)),
        events(added("b", 7), listed(9), stays=True),
        until="b@7",
    )

    assert told[:4] == ["a@50", "synced", "interrupted", "b@7"]


def test_versions_that_are_no_numbers_are_not_compared() -> None:
    first, second = added("a", 0), modified("a", 0)
    for event, version in ((first, "x9"), (second, "x10")):
        event["object"]["metadata"]["resourceVersion"] = version
    told = told_by(events(first, listed(1), second, second, stays=True), until="a@x10")

    assert told == ["a@x9", "synced", "a@x10"]


def test_silence_has_an_end() -> None:
    told = told_by(
        events(added("a", 5), listed(9), stays=True),
        events(modified("a", 10), stays=True),
        until="a@10",
        timing=Timing(quiet=0.1),
    )

    assert told == ["a@5", "synced", "interrupted", "a@10"]


def test_a_server_that_never_ends_its_list_is_read_page_by_page() -> None:
    told = told_by(
        events(added("a", 5), stays=True),
        page(9, pod("a", 5)),
        events(stays=True),
        until="synced",
        timing=Timing(quiet=0.1),
    )

    assert told == ["a@5", "interrupted", "synced"]


def test_lost_servers_are_waited_for_longer_and_longer() -> None:
    told = told_by(
        events(added("a", 5), listed(9)),
        HANGS_UP,
        SILENCE,
        refused(503, "ServiceUnavailable"),
        refused(403, "Forbidden"),
        raw(b"nonsense"),
        events(modified("a", 10), stays=True),
        until="a@10",
        timing=Timing(quiet=0.1),
    )

    assert told == ["a@5", "synced", *["interrupted"] * 5, "a@10"]
    assert told.slept == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_a_server_that_hangs_up_without_a_word_is_not_run_down() -> None:
    told = told_by(events(listed(9)), events(), events(), events(added("a", 10), stays=True), until="a@10")

    assert told == ["synced", "interrupted", "interrupted", "a@10"]


def test_no_rights_are_an_error_at_first() -> None:
    async def story() -> None:
        async with stub(refused(403, "Forbidden", "pods is forbidden")) as server, client_of(server) as client:
            with pytest.raises(ApiError, match="pods is forbidden") as refusal:
                async for _ in Watch(client, PODS).records():
                    pass
            assert refusal.value.status == 403

    asyncio.run(story())


HOSTILE: list[dict[str, Any]] = [
    {"priority": "high"},
    {"priority": 2**40},
    {"containers": [{"resources": {"requests": 7}}]},
    {"affinity": {"podAffinity": []}},
]


@pytest.mark.parametrize("spec", HOSTILE)
def test_an_object_that_makes_no_sense_does_not_stop_the_rest(spec: dict[str, Any]) -> None:
    told = told_by(
        events(added("bad", 5, **spec), added("a", 6), listed(9), modified("bad", 10), deleted("bad", 11), stays=True),
        until="-bad",
    )

    assert told == ["?bad", "a@6", "synced", "bad@10", "-bad"]
    first = told.records[0]
    assert isinstance(first, Unreadable)
    assert "Pod ns/bad, spec." in first.why


def test_objects_that_are_nested_without_end_are_unreadable() -> None:
    depth = 100_000
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    meta = b'{"name":"bad","namespace":"ns","uid":"u","resourceVersion":"5"}'
    line = b'{"type":"ADDED","object":{"metadata":%b,"spec":{"schedulingGroup":%b}}}\n' % (meta, deep)

    assert told_by(events(line, listed(9), stays=True), until="synced") == ["?", "synced"]


def test_what_came_before_a_broken_line_is_told() -> None:
    async def play(asked: Asked, writer: Writer) -> bool:
        whole = events(b'{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"5"}}}\nwhat\n')
        return await whole(asked, writer)

    assert told_by(play, events(listed(9), stays=True), until="synced")[:2] == ["a@5", "interrupted"]


def test_a_line_without_end_is_not_kept() -> None:
    from posse.kube.api.server import Access, Server
    from posse.kube.api.transport import HttpTransport

    async def story() -> list[Record]:
        async with stub(events(b"x" * 5000, b"x" * 6000, stays=True)) as server:
            access = Access(Server(server.url))
            transport = HttpTransport(access, longest_line=10_000)
            async with ApiClient(access, transport) as client, aclosing(Watch(client, PODS).records()) as batches:
                return await anext(batches)

    (record,) = asyncio.run(story())
    assert isinstance(record, Interrupted)
    assert "a line of more than 10000 bytes" in record.why
