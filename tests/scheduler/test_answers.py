"""Plugins of other people: what they give that is no answer is theirs, and said so."""

from math import nan
from typing import Any

import numpy as np
import pytest

from posse.errors import InputError
from posse.scheduler.placement.terms import FixedFilter
from posse.scheduler.plugin import Opinion, Plugin, Vote
from posse.scheduler.registry import Registry, built_in
from tests.builders import binds, conf, crew, cycle, engine, gang, node

WRONG: list[tuple[str, Any, str]] = [
    ("node_filter", False, "gave bool False"),
    ("node_filter", 5, "gave int 5"),
    ("node_filter", "", "gave str ''"),
    ("node_score", nan, "gave float nan"),
    ("node_score", None, "gave None"),
    ("node_score", "x", "gave str 'x'"),
    ("gang_valid", "no", "a Blocker that says what is in the way, or None"),
    ("gang_ready", None, "True or False"),
    ("gang_pipelined", 1, r"Vote\.PERMIT"),
    ("gang_enqueueable", 1, "an Opinion"),
    ("gang_order", None, "gave None"),
    ("gang_order", nan, "gave float nan"),
    ("queue_order", {"a": 1}, "gave dict"),
    ("queue_overused", True, "gave bool True"),
    ("queue_allocatable", "full", "gave str 'full'"),
    ("filters", [FixedFilter(np.zeros(9, np.int32))], "one code for each node"),
    ("scores", 3, "gave int 3"),
    ("queue_standing", 4, "a Standing, or None"),
]


def saying(point: str, answer: Any) -> Registry:
    """A registry with a plugin that answers one question so."""

    def said(self: Plugin, *_: object, **__: object) -> Any:
        return answer(self, *_) if callable(answer) else answer

    made: type[Plugin] = type("Mine", (Plugin,), {"name": "mine", "__doc__": "Say it.", point: said})
    return Registry({**built_in().plugins, "mine": made}, built_in().actions)


def run(point: str, answer: Any) -> dict[str, str]:
    """Two gangs before two nodes, asked everything."""
    running = engine(
        conf("gang predicates", "mine", actions="enqueue, allocate, backfill"),
        node("n1"),
        node("n2"),
        *(gang("a", min=2), gang("b", min=2), gang("c", min_resources=(("cpu", 1),))),
        *(*crew("a", 2), *crew("b", 2, cpu=20), *crew("c", 1)),
        registry=saying(point, answer),
    )
    return binds(running)


@pytest.mark.parametrize(("point", "answer", "said"), WRONG)
def test_what_is_no_answer_is_blamed_on_the_plugin(point: str, answer: Any, said: str) -> None:
    if point == "gang_pipelined":
        running = engine(conf("mine"), node("n1"), gang("a"), registry=saying(point, answer))
        with pytest.raises(InputError, match=f"plugin mine, {point}: .*{said}"):
            running.tiers.plugins[0].gang_pipelined(None)  # type: ignore[arg-type]
        return

    with pytest.raises(InputError, match=f"plugin mine, {point}: .*{said}") as caught:
        run(point, answer)

    assert caught.value.accepted


def test_keys_that_do_not_sort_among_each_other_are_blamed_on_the_plugin() -> None:
    with pytest.raises(InputError, match=r"plugin mine, gang_order: gave (str|int)"):
        run("gang_order", lambda _, gang: gang.fact.name if gang.fact.name == "b" else 1)


def test_whatever_a_plugin_raises_is_its_own_wherever_it_is_asked() -> None:
    def leave(*_: object) -> None:
        raise SystemExit(3)

    for point in ("node_filter", "on_open", "on_close", "gang_ready"):
        with pytest.raises(InputError, match=r"plugin mine, .*raised SystemExit: 3"):
            run(point, leave)


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("node_filter", None),
        ("node_filter", "is mine"),
        ("node_score", 3),
        ("node_score", np.float64(0.5)),
        ("gang_ready", np.bool_(True)),
        ("gang_order", (1, "a")),
        ("gang_enqueueable", Opinion(Vote.ABSTAIN)),
        ("filters", ()),
    ],
)
def test_an_answer_is_taken_as_it_is(point: str, answer: Any) -> None:
    run(point, answer)


def test_what_comes_with_posse_is_not_held_to_its_answers() -> None:
    running = engine(conf("gang", "predicates nodeorder"), node("n1"), registry=built_in())

    assert not any("gang_ready" in vars(plugin) or "filters" in vars(plugin) for plugin in running.tiers.plugins)


def test_a_plugin_that_is_not_built_as_one_is_told_why() -> None:
    made = type("Mine", (Plugin,), {"name": "mine", "__doc__": "Forget.", "__init__": lambda self, setup: None})
    registry = Registry({**built_in().plugins, "mine": made}, built_in().actions)

    with pytest.raises(InputError, match=r"plugin mine, .*cannot be built: .*super\(\).__init__\(setup\)"):
        cycle(engine(conf("mine"), registry=registry))
