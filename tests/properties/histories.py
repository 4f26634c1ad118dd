"""Histories: what is told of each object of a small cluster over time, in order, and the ways in which several can be
told at once.

Names are few, so that objects refer to each other, to things that come later, that are gone again or that never come.
"""

from collections.abc import Sequence

from hypothesis import strategies as st

from posse.cluster.facts import (
    BudgetFact,
    GangFact,
    Gone,
    NamespaceFact,
    NodeFact,
    Observation,
    PriorityClassFact,
    QueueFact,
    QuotaFact,
    Rules,
    Shape,
    SubgroupPolicy,
    TaskFact,
)
from posse.cluster.selectors import Requirement, Selector
from posse.cluster.storage_facts import StorageClassFact, VolumeClaimFact, VolumeFact

History = list[Observation]

LONGEST = 4
NODES, GANGS, QUEUES, CLASSES = ("n1", "n2", "n3"), ("default/g1", "default/g2"), ("q1", "q2"), ("low", "high")
uids = st.sampled_from(("first", "second"))
SHAPES = (
    Shape(requests=(("cpu", 1000), ("pods", 1)), scored_cpu=1000, scored_memory=200),
    Shape(requests=(("cpu", 500), ("memory", 1 << 30), ("pods", 1)), scored_cpu=500, scored_memory=1 << 30),
    Shape(requests=(("example.com/rare", 2000), ("pods", 1)), scored_cpu=100, scored_memory=200),
    Shape(requests=(("pods", 1),), scored_cpu=100, scored_memory=200),
)
labels = st.sampled_from(({}, {"app": "a"}, {"app": "b", "group": "1"}, {"app": "a", "group": "2"}))


def _told(
    kind: str, key: str, fact: st.SearchStrategy[Observation], uids: st.SearchStrategy[str]
) -> st.SearchStrategy[History]:
    """What is told of one object: facts, and now and then that it is gone, the one of a uid or whichever there is."""
    gone = st.builds(Gone, kind=st.just(kind), key=st.just(key), uid=st.just("") | uids)
    return st.lists(fact | fact | gone, max_size=LONGEST)


def pods(name: str) -> st.SearchStrategy[History]:
    """The life of one pod name: it waits, runs, ends, moves to another gang, comes again as another pod."""
    fact = st.builds(
        TaskFact,
        namespace=st.just("default"),
        name=st.just(name),
        uid=uids,
        created=st.sampled_from((0, 5)),
        gang=st.sampled_from(("", *GANGS)),
        role=st.sampled_from(("", "ps", "worker")),
        shape=st.sampled_from(SHAPES),
        labels=labels,
        priority=st.sampled_from((None, 7)),
        phase=st.sampled_from(("Pending", "Pending", "Running", "Succeeded", "Failed", "Unknown")),
        node=st.sampled_from(("", "", *NODES)),
        nominated=st.sampled_from(("", "", "n1")),
        terminating=st.booleans(),
        gates=st.sampled_from(((), (), ("example.com/wait",))),
    )
    return _told("task", f"default/{name}", fact, uids)


def nodes(name: str) -> st.SearchStrategy[History]:
    """The life of one node name."""
    allocatable = st.sampled_from(
        ((("cpu", 4000), ("pods", 9)), (("cpu", 2000), ("example.com/rare", 4000), ("pods", 9)), ())
    )
    fact = st.builds(NodeFact, name=st.just(name), uid=uids, allocatable=allocatable, labels=labels)
    return _told("node", name, fact, uids)


def gangs(key: str) -> st.SearchStrategy[History]:
    """The life of one gang: its queue, minimums, sub-gangs and rules change."""
    by_group = SubgroupPolicy(name="groups", size=2, min_groups=1, match_keys=("group",))
    only_a = SubgroupPolicy(name="a", selector=Selector((Requirement("app", "In", ("a",)),)))
    fact = st.builds(
        GangFact,
        key=st.just(key),
        namespace=st.just("default"),
        name=st.just(key.removeprefix("default/")),
        uid=uids,
        queue=st.sampled_from(QUEUES),
        min_member=st.integers(1, 3),
        min_roles=st.sampled_from(((), (), (("ps", 1), ("worker", 2)))),
        subgroups=st.sampled_from(((), (), (by_group,), (only_a, by_group))),
        priority_class=st.sampled_from(("", *CLASSES)),
        min_resources=st.sampled_from((None, (("cpu", 2000),), (("example.com/other", 1000),))),
        phase=st.sampled_from(("", "Pending", "Inqueue", "Running")),
        rules=st.sampled_from((Rules(), Rules(gated_count=True), Rules(selector_alone_groups=False))),
    )
    return _told("gang", key, fact, uids)


def queues(key: str) -> st.SearchStrategy[History]:
    """The life of one queue."""
    capability = st.sampled_from(((), (("cpu", 3000),), (("example.com/third", 1),)))
    fact = st.builds(
        QueueFact, key=st.just(key), name=st.just(key), uid=uids, weight=st.integers(1, 2), capability=capability
    )
    return _told("queue", key, fact, uids)


def classes(name: str) -> st.SearchStrategy[History]:
    """The life of one priority class."""
    fact = st.builds(PriorityClassFact, name=st.just(name), value=st.integers(1, 3), is_default=st.booleans())
    return _told("priority-class", name, fact, st.just(""))


def surroundings() -> list[st.SearchStrategy[History]]:
    """The lives of a namespace, a budget and a quota."""
    namespace = st.builds(NamespaceFact, name=st.just("default"), labels=labels)
    budget = st.builds(BudgetFact, namespace=st.just("default"), name=st.just("b"), allowed=st.integers(0, 2))
    quota = st.builds(
        QuotaFact, namespace=st.just("default"), name=st.just("q"), used=st.sampled_from(((), (("pods", 1),)))
    )
    return [
        _told("namespace", "default", namespace, st.just("")),
        _told("budget", "default/b", budget, st.just("")),
        _told("quota", "default/q", quota, st.just("")),
    ]


def storage() -> list[st.SearchStrategy[History]]:
    """The lives of a volume, a claim of one and a class."""
    volume = st.builds(VolumeFact, name=st.just("v"), uid=uids, size=st.integers(1, 2), is_available=st.booleans())
    claim = st.builds(
        VolumeClaimFact, namespace=st.just("default"), name=st.just("c"), uid=uids, volume=st.sampled_from(("", "v"))
    )
    storage_class = st.builds(StorageClassFact, name=st.just("local"), waits=st.booleans())
    return [
        _told("volume", "v", volume, uids),
        _told("volume-claim", "default/c", claim, uids),
        _told("storage-class", "local", storage_class, st.just("")),
    ]


def clusters() -> st.SearchStrategy[list[History]]:
    """Everything that is told of a cluster, object by object."""
    everything = (
        *map(pods, ("p1", "p2", "p3", "p4")),
        *map(nodes, NODES[:2]),
        *map(gangs, GANGS),
        *map(queues, QUEUES),
        *map(classes, CLASSES),
        *surroundings(),
        *storage(),
    )
    return st.tuples(*everything).map(list)


def merged(histories: Sequence[History], turns: Sequence[int]) -> History:
    """All histories in one, each in its own order; `turns` says whose next observation comes next."""
    told = [iter(history) for history in histories]
    return [next(told[turn]) for turn in turns]


def turns_of(histories: Sequence[History]) -> list[int]:
    """One object after the other."""
    return [number for number, history in enumerate(histories) for _ in history]


def repeating(histories: Sequence[History], times: Sequence[int]) -> list[History]:
    """The same, with every observation told several times over."""
    numbers = iter(times)
    return [[each for each in history for _ in range(next(numbers))] for history in histories]
