"""Watches of a real API server, and of one that breaks under way."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.client import ApiClient
from posse.kube.api.records import Interrupted, Record, Seen, Synced, Unreadable
from posse.kube.api.resources import is_served, resource_of
from posse.kube.api.watching import Selection, Timing, Watch
from posse.kube.objects import Queue
from tests.cluster.control_plane import ControlPlane, Options
from tests.cluster.control_plane import control_plane as running
from tests.kube.api.real import PODS, SOON, listening, make_pods, manifest, with_client


@pytest.mark.parametrize("streaming", [True, False])
def test_two_thousand_pods_are_listed_and_followed(
    control_plane: ControlPlane, namespace: str, streaming: bool
) -> None:
    names = [f"p{number:04}" for number in range(2000)]

    async def use(client: ApiClient) -> None:
        uids = await make_pods(client, namespace, names)
        async with listening(client, Selection(namespace), streaming=streaming) as view:
            assert {name: it.object.metadata.uid for name, it in view.there.items()} == uids
            await asyncio.gather(*(client.bind(namespace, name, uids[name], f"n{name}") for name in names[:500]))
            await asyncio.gather(
                *(client.delete(PODS.path(namespace, it), uid=uids[it], grace=0) for it in names[1500:])
            )
            await view.until(lambda: len(view.there) == 1500 and view.node_of(names[499]) == f"n{names[499]}")
            await view.until(lambda: all(view.node_of(it) for it in names[:500]))
            assert {it.name: it.uid for it in view.vanished} == {name: uids[name] for name in names[1500:]}

    with_client(control_plane, use)


def test_selectors_choose_on_the_server(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        uids = await make_pods(client, namespace, ["a", "b"])
        async with listening(client, Selection(namespace, fields="spec.nodeName=")) as view:
            assert set(view.there) == {"a", "b"}
            await client.bind(namespace, "a", uids["a"], "n")
            await view.until(lambda: set(view.there) == {"b"})
        await client.patch(PODS.path(namespace, "b"), b'{"metadata":{"labels":{"team":"x"}}}')
        async with listening(client, Selection(namespace, labels="team in (x)")) as view:
            assert set(view.there) == {"b"}

    with_client(control_plane, use)


def test_who_has_no_rights_is_told_by_type(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        with pytest.raises(ApiError) as refusal:
            async for _ in Watch(client, PODS, Selection(namespace)).records():
                pass
        assert (refusal.value.status, refusal.value.reason) == (403, "Forbidden")
        assert refusal.value.details.kind == "pods"

    with_client(control_plane, use, control_plane.service_account(namespace, "nobody"))


def test_an_object_that_makes_no_sense_to_us_is_told_as_such(programs: Mapping[str, Path], tmp_path: Path) -> None:
    group = "scheduling.volcano.sh"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    names = {"plural": "queues", "singular": "queue", "kind": "Queue"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"queues.{group}"},
        "spec": {"group": group, "scope": "Cluster", "names": names, "versions": [version]},
    }
    queues = resource_of(Queue)

    def queue(name: str, weight: Any) -> bytes:
        body = {
            "apiVersion": f"{group}/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": {"weight": weight},
        }
        return json.dumps(body).encode()

    async def use(client: ApiClient) -> list[Record]:
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        await client.create(crds, json.dumps(crd).encode())
        try:
            while not await is_served(client, queues):
                await asyncio.sleep(0.05)
            for name, weight in (("bad", "heavy"), ("good", 3)):
                await created(client, queues.path(), queue(name, weight))
            told: list[Record] = []
            async with aclosing(Watch(client, queues, timing=SOON).records()) as batches:
                async for records in batches:
                    told += [it for it in records if not isinstance(it, Interrupted)]
                    if any(isinstance(it, Synced) for it in records):
                        return told
        finally:
            await client.delete(f"{crds}/queues.{group}")
        raise AssertionError

    with running(tmp_path / "plane", Options(fsync=False), programs) as plane:  # whose kinds are nobody else's
        told = with_client(plane, use)
    assert [type(it) for it in told] == [Unreadable, Seen, Synced]
    assert "Queue bad, spec.weight" in told[0].why
    assert told[0].uid


async def created(client: ApiClient, path: str, body: bytes) -> None:
    """Create, as soon as the server is ready for a kind that it has just learned of."""
    while True:
        try:
            await client.create(path, body)
            return
        except ApiError as refusal:
            if refusal.status not in (404, 429, 503):
                raise
            await asyncio.sleep(0.05)


# What follows breaks the server for a while. It is started from the main thread, for it ends with the one that did.


@pytest.mark.parametrize("grace", [10.0, 0.0], ids=["ended", "killed"])
def test_a_watch_outlives_its_server(control_plane: ControlPlane, namespace: str, grace: float) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, ["a", "b"])
        async with listening(client, Selection(namespace)) as view:
            control_plane.stop_apiserver(grace)
            await view.until(lambda: view.told[Interrupted] >= 2)
            control_plane.start_apiserver()
            await client.delete(PODS.path(namespace, "a"), grace=0)
            await make_pods(client, namespace, ["c"])
            await view.until(lambda: set(view.there) == {"b", "c"})

    with_client(control_plane, use)


def test_a_server_that_stands_still_is_given_up_and_come_back_to(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        await make_pods(client, namespace, ["a"])
        async with listening(client, Selection(namespace), Timing(quiet=1.0, backoff=SOON.backoff)) as view:
            with control_plane.apiserver.paused():
                with pytest.raises(LostError, match=r"no answer in 0\.5 seconds|cannot be reached"):
                    await client.request("POST", PODS.path(namespace), manifest("x"), deadline=0.5)
                before = view.told[Interrupted]
                await view.until(lambda: view.told[Interrupted] >= before + 2)
            await make_pods(client, namespace, ["b"])
            await view.until(lambda: {"a", "b"} <= set(view.there))

    with_client(control_plane, use)


class Gate:
    """Somebody's sleep, which lasts until we say so."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.waiting = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waiting.set()
        await self.opened.wait()


def test_what_was_missed_and_is_forgotten_is_told_as_a_difference(control_plane: ControlPlane, namespace: str) -> None:
    async def use(client: ApiClient) -> None:
        gate = Gate()
        old = await make_pods(client, namespace, ["stays", "goes", "is-replaced"])
        async with listening(client, Selection(namespace), sleep=gate.sleep) as view:
            control_plane.restart_apiserver()
            await gate.waiting.wait()
            await client.delete(PODS.path(namespace, "goes"), grace=0)
            await client.delete(PODS.path(namespace, "is-replaced"), grace=0)
            new = await make_pods(client, namespace, ["is-replaced", "comes"])
            control_plane.restart_apiserver()  # it remembers nothing from before its start
            gate.opened.set()
            await view.until(lambda: view.told[Synced] == 2)
            assert {name: it.object.metadata.uid for name, it in view.there.items()} == {"stays": old["stays"]} | new
            assert {it.name: it.uid for it in view.vanished} == {it: old[it] for it in ("goes", "is-replaced")}
            assert any("410 Expired" in why for why in view.interruptions)

    with_client(control_plane, use)
