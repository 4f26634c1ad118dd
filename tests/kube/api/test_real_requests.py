"""Requests to a real API server: what it takes, and how it refuses."""

import asyncio
import json
from contextlib import suppress

import pytest

from posse.kube.api.answers import ApiError
from posse.kube.api.client import ApiClient, Patch
from posse.kube.api.events import EventRecorder, reference_to
from posse.kube.api.leases import Candidate, LeaseTiming
from posse.kube.api.records import Seen
from posse.kube.api.resources import is_served, resource_of
from posse.kube.api.watching import Selection, Watch
from posse.kube.objects import KINDS, Pod, Queue
from tests.cluster.control_plane import ControlPlane
from tests.kube.api.real import PODS, first_of, make_pods, manifest, with_client


def test_a_list_is_read_in_pages_as_of_one_moment(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, [f"p{number}" for number in range(25)])
        pages = []
        async for page in client.list(PODS.path(namespace), limit=10):
            pages.append(page)
            await client.create(PODS.path(namespace), manifest(f"later-{len(pages)}"))
        assert [len(page.items) for page in pages] == [10, 10, 5]
        assert len({page.version for page in pages}) == 1

    with_client(control_plane, use)


def test_binding_says_why_not(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        uids = await make_pods(client, namespace, ["a"])
        await client.create(PODS.path(namespace), manifest("gated", schedulingGates=[{"name": "x.dev/wait"}]))
        refusals = []
        for name, uid in (("a", "another"), ("gated", ""), ("absent", "")):
            with pytest.raises(ApiError) as refusal:
                await client.bind(namespace, name, uid or uids["a"], "n")
            refusals.append((refusal.value.status, refusal.value.reason))
        await client.bind(namespace, "a", uids["a"], "n")
        with pytest.raises(ApiError, match='already assigned to node "n"') as refusal:
            await client.bind(namespace, "a", uids["a"], "n")
        assert refusals == [(409, "Conflict"), (409, "Conflict"), (404, "NotFound")]

    with_client(control_plane, use)


def test_each_way_to_change_something(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        path = PODS.path(namespace, "a")
        uids = await make_pods(client, namespace, ["a"])
        await client.patch(path, b'{"metadata":{"labels":{"merge":"1"}}}')
        await client.patch(path, b'[{"op":"add","path":"/metadata/labels/json","value":"1"}]', Patch.JSON)
        condition = b'{"status":{"conditions":[{"type":"%b","status":"True"}]}}'
        for kind in (b"One", b"Two"):
            await client.patch(PODS.path(namespace, "a", "status"), condition % kind, Patch.STRATEGIC)
        applied = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"apply": "1"}}}
        await client.apply(path, json.dumps(applied).encode(), manager="posse-test")
        told = json.loads(await client.get(path))
        assert told["metadata"]["labels"] == {"merge": "1", "json": "1", "apply": "1"}
        assert {it["type"] for it in told["status"]["conditions"]} == {"One", "Two"}
        told["metadata"]["resourceVersion"] = "1"
        with pytest.raises(ApiError, match="409 Conflict"):
            await client.replace(path, json.dumps(told).encode())
        with pytest.raises(ApiError, match="409 Conflict"):
            await client.delete(path, uid="another")
        await client.evict(namespace, "a", uids["a"])
        with pytest.raises(ApiError, match="404 NotFound"):
            await client.get(path)

    with_client(control_plane, use)


def test_a_budget_refuses_evictions_and_nobody_waits(
    control_plane: ControlPlane, namespace: str, controller_manager: object
) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}}

    async def use(client: ApiClient) -> None:
        budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
        uids = await make_pods(client, namespace, ["a"])
        await client.bind(namespace, "a", uids["a"], "n")
        running = b'{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
        await client.patch(PODS.path(namespace, "a", "status"), running, Patch.STRATEGIC)
        await client.create(budgets, json.dumps(budget).encode())
        while json.loads(await client.get(f"{budgets}/b")).get("status", {}).get("currentHealthy", 0) < 1:
            await asyncio.sleep(0.05)
        with pytest.raises(ApiError) as refusal:
            await client.evict(namespace, "a", uids["a"])
        assert refusal.value.by_budget
        assert not refusal.value.busy

    with_client(control_plane, use)


def test_what_is_served_can_be_asked(control_plane: ControlPlane) -> None:
    nowhere = resource_of(Queue, "nobody.example.com/v1")

    async def use(client: ApiClient) -> list[bool]:
        return [await is_served(client, resource) for resource in (resource_of(Pod), nowhere)]

    assert with_client(control_plane, use) == [True, False]


def test_every_kind_whose_group_is_served_is_where_we_look(control_plane: ControlPlane) -> None:
    async def use(client: ApiClient) -> dict[str, bool]:
        found = {}
        for kind in KINDS.values():
            with suppress(ApiError):
                await client.get(resource_of(kind).group_path)
                found[kind.KIND] = await is_served(client, resource_of(kind))
        return found

    found = with_client(control_plane, use)
    assert {"Pod", "PriorityClass", "LimitRange", "PodDisruptionBudget", "CronJob"} <= found.keys()
    assert all(found.values())


def test_of_two_candidates_the_one_that_stands_still_loses(control_plane: ControlPlane, namespace: str) -> None:
    timing = LeaseTiming(duration=3.0, renew_within=2.0, retry=0.3)

    async def use(client: ApiClient) -> None:
        a, b = (Candidate(client, namespace, "posse", name, timing=timing) for name in ("a", "b"))
        assert await a.try_once()
        assert not await b.try_once()
        second = asyncio.create_task(b.run())
        while not b.is_leader:  # a does nothing any more, as if it stood still
            assert not (a.is_leader and b.is_leader)
            await asyncio.sleep(0.01)
        assert not a.is_leader
        assert not await a.try_once()
        assert (a.leader, a.term) == ("b", 1)
        second.cancel()
        await b.release()
        assert await a.try_once()
        assert a.term == 2

    with_client(control_plane, use)


def test_events_are_taken_and_counted(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, ["a"])
        (seen,) = [
            record
            async for records in first_of(Watch(client, PODS, Selection(namespace)))
            for record in records
            if isinstance(record, Seen)
        ]
        recorder = EventRecorder(client, "posse.dev/scheduler", "posse-1")
        for _ in range(3):
            recorder.tell(reference_to(seen.object), "Unschedulable", "no room", type="Warning")
            await recorder.flush()
        (event,) = json.loads(await client.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"))["items"]
        assert (event["reason"], event["series"]["count"], recorder.dropped) == ("Unschedulable", 3, 0)

    with_client(control_plane, use)
    assert "no room" in control_plane.kubectl("describe", "pod", "a", "-n", namespace)
