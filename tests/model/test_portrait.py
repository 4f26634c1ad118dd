"""A portrait shows what is known, and nothing of how it came to be known."""

from msgspec import structs

from posse.cluster.facts import Gone
from posse.cluster.portrait import portrait
from posse.cluster.status import Status
from posse.cluster.world import World
from tests.builders import crew, gang, node, queue, task, the_task


def told(*facts: object) -> World:
    world = World()
    world.observe(facts)
    return world


FACTS = (queue("default"), node("n1"), gang("a"), *crew("a", 2), task("old", on="n1"))


def test_the_order_of_facts_leaves_no_trace() -> None:
    assert portrait(told(*FACTS)) == portrait(told(*reversed(FACTS)))


def test_what_came_and_went_leaves_no_trace() -> None:
    guest = (node("n2"), task("guest", "b", on="n2"), gang("b"))
    gone = [
        Gone(kind=kind, key=key) for kind, key in (("task", "default/guest"), ("gang", "default/b"), ("node", "n2"))
    ]

    assert portrait(told(*FACTS, *guest, *gone)) == portrait(told(*FACTS))


def test_a_name_that_nothing_is_known_of_is_left_out() -> None:
    assert portrait(told(gang("a", queue="unheard-of")))["queues"] == {}


def test_every_difference_shows() -> None:
    before = portrait(told(*FACTS))
    for changed in (
        node("n1", cpu=7),
        gang("a", min=2),
        queue("default", weight=2),
        task("old", on="n1", cpu=2),
        task("new"),
    ):
        assert portrait(told(*FACTS, changed)) != before


def test_a_decision_shows() -> None:
    world = told(*FACTS)
    before = portrait(world)
    row = the_task(world, "a-worker-0").row
    world.move([row], [Status.ALLOCATED], [world.nodes.find("n1")])

    shown = portrait(world)["pods"]["default/a-worker-0"]

    assert (shown["status"], shown["node"]) == ("ALLOCATED", "n1")
    world.move([row], [Status.PENDING], [-1])
    assert portrait(world) == before


def test_a_portrait_stays_as_it_is_when_the_world_moves_on() -> None:
    world = told(*FACTS)
    kept, again = portrait(world), portrait(world)
    world.observe([structs.replace(FACTS[2], min_member=5), Gone(kind="node", key="n1")])

    assert kept == again
    assert kept != portrait(world)
