"""Binpack: fill nodes up."""

import numpy as np

from tests.builders import GPU, binds, conf, engine, gang, node, task, the_task


def with_arguments(**arguments: object) -> str:
    return conf(
        "gang", [{"name": "binpack", "arguments": {f"binpack.{name}": value for name, value in arguments.items()}}]
    )


def points(text: str, *facts: object) -> list[float]:
    running = engine(text, *facts)
    rows = np.arange(len(running.world.nodes))
    found: list[float] = running._chooser.scoring.points(the_task(running, "p").row, rows).tolist()
    return found


def test_the_fuller_node_is_filled_first() -> None:
    facts = [node("free"), node("busy"), task("other", on="busy", cpu=4), gang("g"), task("p", "g")]
    assert binds(engine(conf("gang", "binpack"), *facts)) == {"p": "busy"}


def test_points_are_the_mean_of_the_used_shares() -> None:
    assert points(with_arguments(), node("n", cpu=4, memory=8), task("p", cpu=1, memory=4)) == [37.5]


def test_a_node_that_would_be_overfilled_gets_nothing() -> None:
    assert points(with_arguments(), node("n", cpu=4, memory=2), task("p", cpu=1, memory=4)) == [0.0]


def test_weights_are_chosen_per_resource_and_negative_ones_count_as_one() -> None:
    facts = [node("n", cpu=4, memory=8, gpu=2), task("p", cpu=1, memory=8, gpu=1)]
    assert points(with_arguments(cpu=3, memory=-4), *facts) == [43.75]
    assert points(with_arguments(cpu=1, memory=0, resources=f"{GPU}, example.com/other"), *facts) == [37.5]
    assert points(with_arguments(cpu=1, memory=0, resources=GPU, **{f"resources.{GPU}": 3}), *facts) == [43.75]


def test_a_weight_without_its_name_in_the_list_is_not_counted() -> None:
    facts = [node("n", cpu=4, memory=8, gpu=2), task("p", cpu=1, memory=0, gpu=2)]
    assert points(with_arguments(**{f"resources.{GPU}": 3}), *facts) == [25.0]


def test_weight_zero_switches_it_off() -> None:
    assert points(with_arguments(weight=0), node("n"), task("p")) == [0.0]
