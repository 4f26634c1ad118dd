"""From decision to bound pod: each bind comes to what the server says, once."""

import asyncio
from itertools import repeat
from typing import Any

import pytest

from posse.binding.limiter import Limits
from posse.cluster.records import Bound, Evict, Refused, TimedOut
from tests.binding import api
from tests.binding.api import Pod
from tests.binding.jumping import StuckError, now, run
from tests.binding.scenes import FOREVER, Scene, bind, gang

ONE_AT_A_TIME = Limits(1, 1, 1)


def told_of(*plays: api.Play, scene: Scene | None = None) -> list[str]:
    """What is asked and reported of one pod when this happens to its requests."""

    async def story() -> list[str]:
        stage = scene or Scene().with_pods_of([bind("a")])
        stage.api.play(*plays)
        binder = stage.binder(deadline=30)
        binder.carry_out([bind("a"), Evict("ns/b", "u", "n1", "ns/g", "repair")])
        assert binder.open == 1
        await binder.drain(FOREVER)
        assert binder.open == binder.in_flight == 0
        return [*stage.api.asked, *stage.told]

    return run(story())


@pytest.mark.parametrize(
    ("plays", "told"),
    [
        ([], ["bind ns/a", "a@n1"]),
        ([api.SLOW], ["bind ns/a", "a@n1"]),
        ([api.LOST_BUT_DONE], ["bind ns/a", "get ns/a", "a@n1"]),
        ([api.LOST], ["bind ns/a", "get ns/a", "bind ns/a", "a@n1"]),
        ([api.UNSENT], ["bind ns/a", "bind ns/a", "a@n1"]),
        ([api.BUSY], ["bind ns/a", "bind ns/a", "a@n1"]),
        ([api.FAILED], ["bind ns/a", "get ns/a", "bind ns/a", "a@n1"]),
        ([api.FAILED_BUT_DONE], ["bind ns/a", "get ns/a", "a@n1"]),
        ([api.SILENT_BUT_DONE], ["bind ns/a", "get ns/a", "a@n1"]),
        ([api.LOST_BUT_DONE, api.LOST, api.BUSY], [*["bind ns/a"], *["get ns/a"] * 3, "a@n1"]),
        ([api.FORBIDDEN], ["bind ns/a", "a: admission says no"]),
        ([api.STRANGER] * 3, [*["bind ns/a"] * 4, "a@n1"]),
        ([api.STRANGER] * 9, [*["bind ns/a"] * 7, 'a: User "u" cannot create resource "pods/binding"']),
        ([api.GHOST, api.FINE, api.BUSY], ["bind ns/a", "get ns/a", "bind ns/a", "bind ns/a", "a@n1"]),
        ([api.SILENT] * 9, [*["bind ns/a", "get ns/a", "get ns/a"], "a? not bound in time: no answer in time"]),
        ([api.UNSENT] * 99, [*["bind ns/a"] * 13, "a: not bound in time: no connection"]),
    ],
)
def test_what_an_answer_comes_to(plays: list[api.Play], told: list[str]) -> None:
    assert told_of(*plays) == told


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ({}, "a: gone"),
        ({"ns/a": Pod("another")}, "a: gone: another pod has its name"),
        ({"ns/a": Pod("uid-a", "n1")}, "a@n1"),
        ({"ns/a": Pod("uid-a", "n2")}, "a: bound to n2 already"),
        (
            {"ns/a": Pod("uid-a", gated=True)},
            'a: Operation cannot be fulfilled on pods/binding "x": pod a has non-empty .spec.schedulingGates',
        ),
    ],
    ids=["gone", "namesake", "bound", "bound-elsewhere", "gated"],
)
def test_what_the_pod_is_like_decides(pods: dict[str, Pod], told: str) -> None:
    assert told_of(scene=Scene(api.Api(dict(pods)))) == ["bind ns/a", told]


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ({}, "a: gone"),
        ({"ns/a": Pod("another")}, "a: gone: another pod has its name"),
        ({"ns/a": Pod("uid-a", "n2")}, "a: bound to n2 already"),
    ],
    ids=["gone", "namesake", "bound-elsewhere"],
)
def test_and_is_looked_at_after_an_answer_that_was_lost(pods: dict[str, Pod], told: str) -> None:
    assert told_of(api.LOST, scene=Scene(api.Api(dict(pods)))) == ["bind ns/a", "get ns/a", told]


def test_gangs_are_bound_in_order_of_decision_and_each_in_one_go() -> None:
    async def story() -> list[str]:
        binds = [*gang("b", 2), *gang("a", 2), bind("b-2", "b"), *gang("c", 1)]
        stage = Scene().with_pods_of(binds)
        binder = stage.binder(ONE_AT_A_TIME)
        binder.carry_out(binds)
        await binder.drain(FOREVER)
        return stage.told

    assert run(story()) == ["b-0@n1", "b-1@n1", "b-2@n1", "a-0@n1", "a-1@n1", "c-0@n1"]


def test_members_are_bound_at_once_but_not_more_than_the_limiter_lets() -> None:
    async def story() -> tuple[int, float]:
        binds = gang("a", 20)
        stage = Scene().with_pods_of(binds)
        stage.api.plays = repeat(api.Play(after=1))
        binder = stage.binder(Limits(start=10, ceiling=10))
        binder.carry_out(binds)
        await binder.drain(FOREVER)
        assert len(stage.told) == 20
        assert stage.latencies == [pytest.approx(1)] * 20
        return stage.api.most, now()

    assert run(story()) == (10, pytest.approx(2))


def test_a_pod_whose_every_request_fails_is_in_nobodys_way() -> None:
    async def story() -> list[str]:
        binds = [*gang("bad", 3), *gang("good", 3)]
        stage = Scene().with_pods_of(binds)
        for it in binds[:3]:
            stage.api.play_for(it.pod, repeat(api.FAILED))
        binder = stage.binder()
        binder.carry_out(binds)
        await binder.drain(2)
        return stage.told

    told = run(story())
    assert told[:3] == ["good-0@n1", "good-1@n1", "good-2@n1"]
    assert told[3:] == ["bad-0? shutting down", "bad-1? shutting down", "bad-2? shutting down"]


def test_a_server_that_is_down_is_not_run_at() -> None:
    async def story() -> tuple[int, int]:
        binds = gang("a", 1000)
        stage = Scene().with_pods_of(binds)
        stage.api.plays = repeat(api.UNSENT)
        binder = stage.binder()
        binder.carry_out(binds)
        await asyncio.sleep(10)
        asked = len(stage.api.asked)
        stage.api.plays = repeat(api.FINE)
        await binder.drain(FOREVER)
        return asked, sum(isinstance(it, Bound) for it in stage.outcomes)

    asked, bound = run(story())
    assert asked < 300
    assert bound == 1000


def test_what_cannot_even_be_sent_in_time_is_refused() -> None:
    async def story() -> Scene:
        stage = Scene().with_pods_of(gang("a", 20))
        stage.api.plays = repeat(api.SILENT)
        binder = stage.binder(Limits(2, 2, 2))
        binder.carry_out(gang("a", 20))
        await binder.drain(FOREVER)
        return stage

    stage = run(story())
    sent = {it.partition(" ")[2] for it in stage.api.asked}
    assert {it.pod for it in stage.outcomes if isinstance(it, TimedOut)} == sent
    assert {it.pod for it in stage.outcomes if isinstance(it, Refused)} == {it.pod for it in gang("a", 20)} - sent
    assert 0 < len(sent) < 20


def test_who_does_not_lead_sends_nothing() -> None:
    assert told_of(scene=Scene(leads=False).with_pods_of([bind("a")])) == ["a: not the leader"]


def test_who_is_deposed_in_the_middle_sends_nothing_more() -> None:
    async def story() -> Scene:
        binds = gang("a", 5)
        stage = Scene().with_pods_of(binds)
        stage.api.play(api.Play(after=1), api.Play(api.LOST.fault, after=1), api.Play(api.LOST.fault, False, 1))
        binder = stage.binder(Limits(3, 3, 3))
        binder.carry_out(binds)
        await asyncio.sleep(0.5)
        stage.leads = False
        await binder.drain(FOREVER)
        return stage

    stage = run(story())
    assert stage.told == ["a-0@n1", "a-3: not the leader", "a-4: not the leader", "a-1@n1", "a-2? not the leader"]
    assert stage.api.asked == ["bind ns/a-0", "bind ns/a-1", "bind ns/a-2", "get ns/a-1", "get ns/a-2"]


def test_a_pod_that_is_being_bound_is_not_bound_by_a_second_hand() -> None:
    async def story() -> Scene:
        stage = Scene().with_pods_of([bind("a"), bind("b")])
        stage.api.plays = repeat(api.SLOW)
        binder = stage.binder()
        binder.carry_out([bind("a")])
        binder.carry_out([bind("a", node="n2"), bind("b", node="n2")])
        assert binder.open == 3
        await binder.drain(FOREVER)
        return stage

    stage = run(story())
    assert stage.told == ["a@n1", "a: bound to n1 already", "b@n2"]
    assert stage.api.most_of_one == 1


def test_a_defect_costs_one_outcome_and_is_told() -> None:
    defects: list[Any] = []

    async def story() -> Scene:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: defects.append(told["exception"]))
        stage = Scene().with_pods_of(gang("a", 3))
        stage.api.play(api.Play(ZeroDivisionError("by zero"), False))
        binder = stage.binder(ONE_AT_A_TIME)
        binder.carry_out(gang("a", 3))
        await binder.drain(FOREVER)
        return stage

    assert run(story()).told == ["a-0? ZeroDivisionError: by zero", "a-1@n1", "a-2@n1"]
    assert [type(it) for it in defects] == [ZeroDivisionError]


# the end


def test_nothing_new_is_begun_at_the_end() -> None:
    async def story() -> Scene:
        stage = Scene().with_pods_of(gang("a", 2))
        binder = stage.binder(ONE_AT_A_TIME)
        binder.carry_out(gang("a", 2))
        draining = asyncio.create_task(binder.drain(FOREVER))
        await asyncio.sleep(0)
        binder.carry_out(gang("b", 1))
        await draining
        return stage

    assert run(story()).told == ["b-0: shutting down", "a-0@n1", "a-1@n1"]


def test_what_is_under_way_when_patience_ends_is_unknown_and_what_was_not_sent_is_refused() -> None:
    async def story() -> Scene:
        stage = Scene().with_pods_of(gang("a", 3))
        stage.api.play_for("ns/a-1", [api.SILENT])
        stage.api.play_for("ns/a-2", repeat(api.UNSENT))
        binder = stage.binder()
        binder.carry_out(gang("a", 3))
        await binder.drain(5)
        return stage

    assert run(story()).told == ["a-0@n1", "a-1? shutting down", "a-2: shutting down"]


def test_who_ends_the_event_loop_leaves_nobody_without_outcome() -> None:
    stage = Scene()

    async def story() -> None:
        stage.with_pods_of(gang("a", 4))
        stage.api.plays = repeat(api.SILENT)
        stage.binder(Limits(2, 2, 2)).carry_out(gang("a", 4))
        await asyncio.sleep(1)

    run(story())
    assert sorted(stage.told) == [
        "a-0? shutting down",
        "a-1? shutting down",
        "a-2: shutting down",
        "a-3: shutting down",
    ]


def test_a_drain_that_is_cut_off_ends_all_the_same() -> None:
    async def story() -> Scene:
        stage = Scene().with_pods_of(gang("a", 1))
        stage.api.plays = repeat(api.SILENT)
        binder = stage.binder()
        binder.carry_out(gang("a", 1))
        draining = asyncio.create_task(binder.drain(FOREVER))
        await asyncio.sleep(1)
        draining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await draining
        return stage

    assert run(story()).told == ["a-0? shutting down"]


def test_draining_an_idle_binder_is_nothing() -> None:
    async def story() -> float:
        await Scene().binder().drain(FOREVER)
        return now()

    assert run(story()) == 0
    with pytest.raises(StuckError):  # the tests' own clock: it does not wait for what never comes
        run(asyncio.Event().wait())


def test_outcomes_are_of_the_pod_that_was_meant() -> None:
    async def story() -> Scene:
        stage = Scene().with_pods_of([bind("a", uid="new")])
        binder = stage.binder()
        binder.carry_out([bind("a", uid="old"), bind("a", uid="new")])
        await binder.drain(FOREVER)
        return stage

    assert run(story()).outcomes == [
        Refused("ns/a", "old", "gone: another pod has its name"),
        Bound("ns/a", "new", "n1"),
    ]
