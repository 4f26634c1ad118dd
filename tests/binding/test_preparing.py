"""Preparing: all of a gang, or none, and nothing is bound before."""

import asyncio
from dataclasses import dataclass, field

import pytest

from posse.cluster.records import Bind, Payload
from tests.binding import api
from tests.binding.jumping import run
from tests.binding.scenes import FOREVER, Scene, bind, gang


@dataclass
class Volumes:
    """Prepares volumes: each takes so many seconds, or cannot be had."""

    seconds: dict[str, float] = field(default_factory=dict)
    faults: dict[str, Exception] = field(default_factory=dict)
    not_undone: dict[str, Exception] = field(default_factory=dict)
    deadline: float = 60.0
    done: list[str] = field(default_factory=list)

    async def prepare(self, bind: Bind, payload: Payload) -> None:
        await asyncio.sleep(self.seconds.get(payload.name, 0))
        if payload.name in self.faults:
            raise self.faults[payload.name]
        self.done.append(f"+{payload.name}")

    async def undo(self, bind: Bind, payload: Payload) -> None:
        if payload.name in self.not_undone:
            raise self.not_undone[payload.name]
        self.done.append(f"-{payload.name}")


def volume(name: str) -> tuple[Payload, ...]:
    return (Payload("volume", name, "n1"),)


PAIR = [bind("a", payloads=volume("x")), bind("b", payloads=volume("y")), bind("c")]


def told_of(volumes: Volumes, *plays: api.Play, binds: list[Bind] = PAIR, patience: float = FOREVER) -> list[str]:
    """What is prepared, asked and reported."""

    async def story() -> list[str]:
        stage = Scene().with_pods_of(binds)
        stage.api.play(*plays)
        binder = stage.binder(preparers={"volume": volumes})
        stage.api.asked = volumes.done
        binder.carry_out(binds)
        await binder.drain(patience)
        assert binder.open == 0
        return [*volumes.done, *stage.told]

    return run(story())


def test_nothing_is_bound_before_all_is_ready() -> None:
    told = told_of(Volumes({"x": 5, "y": 50}))

    assert told == ["+x", "+y", "bind ns/a", "bind ns/b", "bind ns/c", "a@n1", "b@n1", "c@n1"]


def test_if_one_thing_cannot_be_had_the_rest_is_undone_and_all_are_told_why() -> None:
    told = told_of(Volumes({"y": 5}, {"y": OSError("the pool is empty")}))

    why = "volume y: the pool is empty"
    assert told == ["+x", "-x", "-y", f"a: {why}", f"b: {why}", f"c: {why}"]


def test_what_takes_too_long_cannot_be_had() -> None:
    told = told_of(Volumes({"y": 61}))

    assert told[:4] == ["+x", "-x", "-y", "a: volume y: not ready in 60 seconds"]


def test_what_cannot_be_undone_is_told_too() -> None:
    told = told_of(Volumes({"y": 5}, {"y": OSError("empty")}, {"x": OSError("stuck")}))

    assert told[:3] == ["+x", "-y", "a: volume y: empty; volume x not undone: stuck"]


def test_what_nobody_can_prepare_is_refused_before_anything_is_begun() -> None:
    claim = bind("b", payloads=(Payload("device", "gpu"),))

    told = told_of(Volumes(), binds=[PAIR[0], claim])
    assert told[1] == "b: device gpu: nobody prepares what is called device"
    assert len(told) == 2


def test_a_gang_that_is_preparing_is_in_nobodys_way() -> None:
    told = told_of(Volumes({"x": 5}), binds=[bind("a", "slow", payloads=volume("x")), *gang("g", 2)])

    assert told[:4] == ["bind ns/g-0", "bind ns/g-1", "+x", "bind ns/a"]


def test_who_is_refused_gives_back_what_was_prepared_for_it_before_that_is_reported() -> None:
    told = told_of(Volumes(), api.FORBIDDEN)

    assert told[2:6] == ["bind ns/a", "bind ns/b", "bind ns/c", "-x"]
    assert sorted(told[6:]) == ["a: admission says no", "b@n1", "c@n1"]


def test_of_whom_nobody_knows_nothing_is_given_back() -> None:
    told = told_of(Volumes(), *[api.SILENT] * 99)

    assert not [it for it in told if it.startswith("-")]


def test_a_gang_that_is_still_preparing_at_the_end_is_refused() -> None:
    assert told_of(Volumes({"x": 100}), patience=1) == ["+y", *(f"{it}: shutting down" for it in "abc")]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_who_does_not_lead_prepares_and_binds_nothing(when: str) -> None:
    async def story() -> list[str]:
        stage, volumes = Scene(leads=when != "before").with_pods_of(PAIR), Volumes({"x": 5})
        binder = stage.binder(preparers={"volume": volumes})
        binder.carry_out(PAIR)
        await asyncio.sleep(1)
        stage.leads = False
        await binder.drain(FOREVER)
        return [*volumes.done, *stage.api.asked, *stage.told]

    refused = [f"{it}: not the leader" for it in "abc"]
    assert run(story()) == (refused if when == "before" else ["+y", "+x", *refused])


def test_the_deadline_of_binding_begins_when_all_is_ready() -> None:
    assert told_of(Volumes({"x": 3000}, deadline=3600))[-3:] == ["a@n1", "b@n1", "c@n1"]
