"""From decision to bound pod: each bind comes to what the server says, once."""

import pytest

from tests.binding import api
from tests.binding.jumping import run
from tests.binding.scenes import FOREVER, Scene, bind


def told_of(plays: list[api.Play], scene: Scene | None = None) -> list[str]:
    """What is reported of one pod when this happens to its requests."""

    async def story() -> list[str]:
        stage = (scene or Scene()).with_pods_of([bind("a")])
        stage.api.play(*plays)
        binder = stage.binder()
        binder.carry_out([bind("a")])
        await binder.drain(FOREVER)
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
        ([api.GHOST], ["bind ns/a", "get ns/a", "bind ns/a", "a@n1"]),
        ([api.SILENT] * 9, [*["bind ns/a", "get ns/a", "get ns/a"], "a? not bound in time: no answer in time"]),
        ([api.UNSENT] * 99, [*["bind ns/a"] * 13, "a: not bound in time: no connection"]),
    ],
)
def test_what_an_answer_comes_to(plays: list[api.Play], told: list[str]) -> None:
    assert told_of(plays) == told
