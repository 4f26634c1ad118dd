"""Facts in a world are made of the same parts, and still say what came."""

import msgspec

from posse.cluster.facts import TaskFact
from posse.cluster.world import World
from tests.builders import node, task

SAYS = {"app": "train", "example.com/a-key-that-is-not-short-at-all": "once"}


def copied(fact: TaskFact) -> TaskFact:
    """An equal fact that shares nothing, as if it came over the wire."""
    return msgspec.json.decode(msgspec.json.encode(fact), type=TaskFact)


def kept(world: World, key: str) -> TaskFact:
    fact = world.tasks.facts[world.tasks.find(f"default/{key}")]
    assert fact is not None
    return fact


def test_siblings_share_what_they_have_in_common() -> None:
    world = World()
    first, one, other = (task(name, "their-gang", on="their-node", labels=SAYS) for name in ("first", "one", "other"))
    world.observe([node("their-node"), copied(first), copied(one), copied(other)])

    ours, theirs = kept(world, "one"), kept(world, "other")
    assert (kept(world, "first"), ours, theirs) == (first, one, other)
    for part in ("namespace", "labels", "shape", "gang", "node"):
        assert getattr(ours, part) is getattr(theirs, part), part


def test_news_of_a_pod_share_what_has_not_changed() -> None:
    world = World()
    world.observe([copied(task("one", annotations=SAYS))])
    before = kept(world, "one")
    world.observe([copied(task("one", annotations=SAYS, on="n"))])

    assert kept(world, "one") == task("one", annotations=SAYS, on="n")
    assert kept(world, "one").annotations is before.annotations


def test_a_pod_that_is_promised_a_node_does_not_say_that_it_has_it() -> None:
    world = World()
    world.observe([node("n"), task("one", nominated="n")])

    assert (kept(world, "one").node, kept(world, "one").nominated) == ("", "n")
