"""Whatever order news comes in, the scheduler ends up knowing the same.

Two pods of a gang have just been sent to their nodes. What the API says of that (outcomes) and what the watch shows
(observations) come on different ways, so every order of them is tried, one cycle's worth of news at a time; only
what is shown of one object comes in its own order.
"""

from collections.abc import Sequence
from itertools import permutations

import pytest
from msgspec import structs

from posse.cluster.audit import audit
from posse.cluster.facts import Gone, Observation, TaskFact
from posse.cluster.portrait import Portrait, portrait
from posse.cluster.records import Bound, CycleInput, Outcome, Refused, TimedOut
from posse.cluster.world import World
from posse.scheduler.engine import Engine
from tests.builders import binds, conf, crew, engine, gang, node, queue, task

News = Observation | Outcome

WAITS = task("a-worker-0", "a")
OLDER = structs.replace(WAITS, labels={"seen": "earlier"})
SHOWN = structs.replace(WAITS, node="n1")
RUNS = structs.replace(SHOWN, phase="Running")
LEAVES = structs.replace(RUNS, terminating=True)
CANCELLED = structs.replace(WAITS, terminating=True)
OTHER = structs.replace(task("a-worker-1", "a"), node="n1", phase="Running")
SUCCESSOR = structs.replace(WAITS, uid="another")
BOUND = Bound("default/a-worker-0", "a-worker-0", "n1")
OTHER_BOUND = Bound("default/a-worker-1", "a-worker-1", "n1")
TIMED_OUT = TimedOut("default/a-worker-0", "a-worker-0")
REFUSED = Refused("default/a-worker-0", "a-worker-0")
POD_GONE = Gone(kind="task", key="default/a-worker-0", uid="a-worker-0")
NODE_GONE = Gone(kind="node", key="n1", uid="n1")
NODE_AGAIN = node("n1", cpu=4, labels={"again": "yes"})
GANG_CHANGED = gang("a", min=1, queue="other")

STORIES: dict[str, Sequence[News]] = {
    "both bound, the gang moves to another queue": (BOUND, SHOWN, RUNS, OTHER_BOUND, OTHER, GANG_CHANGED),
    "older news of a pod comes after its bind": (OLDER, BOUND, OTHER_BOUND, OTHER, GANG_CHANGED, queue("other")),
    "no answer in time, and yet it was bound": (TIMED_OUT, SHOWN, RUNS, OTHER_BOUND, OTHER, GANG_CHANGED),
    "refused, and seen waiting again": (REFUSED, OLDER, OTHER_BOUND, OTHER, GANG_CHANGED, queue("other")),
    "deleted while it was bound": (BOUND, SHOWN, LEAVES, POD_GONE, OTHER_BOUND, OTHER),
    "deleted before it was bound": (BOUND, CANCELLED, POD_GONE, OTHER_BOUND, OTHER, queue("other")),
    "replaced by another of its name": (BOUND, POD_GONE, SUCCESSOR, OTHER_BOUND, OTHER, GANG_CHANGED),
    "replaced, and its end never seen": (BOUND, RUNS, SUCCESSOR, OTHER_BOUND, OTHER, GANG_CHANGED),
    "the node is lost and comes back": (BOUND, RUNS, OTHER_BOUND, OTHER, NODE_GONE, NODE_AGAIN),
    "the node is lost, then the pods": (RUNS, OTHER_BOUND, OTHER, NODE_GONE, POD_GONE, BOUND),
}


def deciding() -> Engine:
    """A scheduler that has just sent two pods to a node."""
    running = engine(conf("gang", "predicates"), node("n1", cpu=4), gang("a", min=2), *crew("a", 2))
    assert binds(running) == {"a-worker-0": "n1", "a-worker-1": "n1"}
    return running


def subject(news: News) -> tuple[str, str]:
    """The object that an observation shows. Outcomes show none."""
    if isinstance(news, Bound | Refused | TimedOut):
        return "", ""
    if isinstance(news, Gone):
        return news.kind, news.key
    return (
        ("task", news.key)
        if isinstance(news, TaskFact)
        else (type(news).__name__[:-4].lower(), getattr(news, "key", "") or news.name)
    )


def in_own_order(story: Sequence[News], order: Sequence[int]) -> bool:
    """Whether an order keeps what is shown of each object in its own order."""
    last: dict[tuple[str, str], int] = {}
    for number in order:
        about = subject(story[number])
        if about != ("", "") and last.get(about, -1) > number:
            return False
        last[about] = number
    return True


def told(story: Sequence[News], order: Sequence[int]) -> World:
    """The world after these news, one by one."""
    running = deciding().fork()
    for number in order:
        news = story[number]
        is_outcome = isinstance(news, Bound | Refused | TimedOut)
        running.take_in(CycleInput(0, () if is_outcome else (news,), (news,) if is_outcome else ()))
    return running.world


@pytest.mark.parametrize("name", STORIES)
def test_every_order_of_the_news_ends_the_same(name: str) -> None:
    story = STORIES[name]
    ends: dict[tuple[int, ...], Portrait] = {}
    for order in permutations(range(len(story))):
        if in_own_order(story, order):
            world = told(story, order)
            assert audit(world) == []
            ends[order] = portrait(world)
    expected = ends[tuple(range(len(story)))]
    for order, end in ends.items():
        assert end == expected, [story[number] for number in order]
