"""Evictions: budgets are honoured, and who stays is reported."""

import asyncio
from typing import Any

import pytest

from posse.binding.evictor import Evictor
from posse.cluster.records import Bind, Evict
from tests.binding import api
from tests.binding.api import Pod
from tests.binding.jumping import now, run
from tests.binding.scenes import FOREVER, Scene


def evict(name: str, uid: str = "") -> Evict:
    return Evict(f"ns/{name}", uid or f"uid-{name}", "n1", "ns/g", "repair")


def told_of(*plays: api.Play, leaving: Evict | None = None, scene: Scene | None = None, **more: Any) -> list[str]:
    """What is asked and reported when a pod is evicted and this happens."""

    async def story() -> list[str]:
        stage = scene or Scene()
        stage.api.pods["ns/a"] = Pod("uid-a", "n1")
        stage.api.play(*plays)
        evictor = evictor_of(stage, **more)
        evictor.carry_out([leaving or evict("a"), Bind("ns/b", "u", "n1", "ns/g")])
        assert evictor.open == 1
        await evictor.drain(FOREVER)
        assert evictor.open == evictor.in_flight == 0
        return [*stage.api.asked, *stage.told]

    return run(story())


def evictor_of(stage: Scene, **more: Any) -> Evictor:
    return Evictor(
        stage.api,
        stage.outcomes.append,
        limiter=stage.limiter(),
        may_evict=lambda: stage.leads,
        clock=now,
        sleep=asyncio.sleep,
        random=lambda: 0.5,
        **more,
    )


@pytest.mark.parametrize(
    ("plays", "told"),
    [
        ([], ["evict ns/a"]),
        ([api.LOST], ["evict ns/a"] * 2),
        ([api.LOST_BUT_DONE], ["evict ns/a"] * 2),
        ([api.BUSY, api.FAILED, api.UNSENT], ["evict ns/a"] * 4),
        ([api.SILENT], ["evict ns/a"] * 2),
        ([api.STRANGER] * 3, ["evict ns/a"] * 4),
        ([api.FORBIDDEN], ["evict ns/a", "a stays: admission says no"]),
    ],
)
def test_what_an_answer_comes_to(plays: list[api.Play], told: list[str]) -> None:
    assert told_of(*plays) == told


def test_who_cannot_be_evicted_in_time_stays() -> None:
    *asked, told = told_of(*[api.FAILED] * 99)

    assert set(asked) == {"evict ns/a"}
    assert told == "a stays: not evicted in time: etcd is away"


def test_a_used_up_budget_is_told_at_once_in_its_own_words() -> None:
    scene = Scene()
    scene.api.budget = "The disruption budget b needs 3 healthy pods and has 3 currently"

    assert told_of(scene=scene) == ["evict ns/a", f"a stays: {scene.api.budget}"]


@pytest.mark.parametrize("leaving", [evict("gone"), evict("a", uid="older")])
def test_who_is_gone_need_not_leave(leaving: Evict) -> None:
    assert told_of(leaving=leaving) == [f"evict {leaving.pod}"]


def test_a_plain_delete_is_for_those_who_name_it() -> None:
    scene = Scene()
    scene.api.budget = "no"

    assert told_of(scene=scene, by_delete=True) == ["delete ns/a"]
    assert not scene.api.pods


def test_who_does_not_lead_sends_nobody_away() -> None:
    assert told_of(scene=Scene(leads=False)) == ["a stays: not the leader"]


def test_who_is_being_sent_away_is_not_sent_twice() -> None:
    async def story() -> list[str]:
        stage = Scene()
        stage.api.pods["ns/a"] = Pod("uid-a", "n1")
        evictor = evictor_of(stage)
        evictor.carry_out([evict("a")])
        evictor.carry_out([evict("a")])
        await evictor.drain(FOREVER)
        return [*stage.api.asked, *stage.told]

    assert run(story()) == ["evict ns/a"]


def test_at_the_end_all_who_are_left_stay() -> None:
    async def story() -> list[str]:
        stage = Scene()
        stage.api.pods |= {"ns/a": Pod("uid-a"), "ns/b": Pod("uid-b")}
        stage.api.play(api.SILENT)
        evictor = evictor_of(stage)
        evictor.carry_out([evict("a"), evict("b")])
        await evictor.drain(1)
        evictor.carry_out([evict("c")])
        return stage.told

    assert run(story()) == ["a stays: shutting down", "c stays: shutting down"]
