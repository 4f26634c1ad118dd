"""Who takes room that is promised to others: gangs of strictly higher priority, and only for their minimum."""

import pytest

from posse.cluster.facts import Gone, PriorityClassFact, SubgroupPolicy
from posse.scheduler.engine import Engine
from tests.builders import bare, binds, conf, crew, cycle, engine, gang, node, only_on, promised, task

CONF = conf("priority gang", "predicates", actions="allocate")


def test_a_stronger_gang_may_take_a_promise_of_which_a_part_is_free_already() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1, labels={"name": name}) for name in ("n1", "n2")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2)),
        PriorityClassFact(name="urgent", value=100),
        gang("weak", min=2),
        *crew("weak", 2),
    )
    cycle(running)
    assert len(promised(running)) == 2

    strong = gang("strong", priority_class="urgent"), task("strong-0", "strong", shape=only_on("n1"))

    assert binds(running, Gone(kind="task", key="default/old1"), *strong, now=1) == {"strong-0": "n1"}
    assert promised(running) == {}


def test_a_stronger_gang_takes_the_one_promise_that_helps_it_and_no_other() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1, labels={"name": name}) for name in ("n1", "n2")),
        task("old1", on="n1", terminating=True),
        task("old2", on="n2", terminating=True),
        PriorityClassFact(name="low", value=1),
        PriorityClassFact(name="urgent", value=100),
        gang("weakest"),
        task("weakest-0", "weakest", shape=only_on("n1")),
        gang("weak", priority_class="low"),
        task("weak-0", "weak", shape=only_on("n2")),
    )
    cycle(running)

    cycle(running, gang("strong", priority_class="urgent"), task("strong-0", "strong", shape=only_on("n2")), now=1)

    assert promised(running) == {"weakest-0": "n1", "strong-0": "n2"}


def three_promised(*, priorities: tuple[str, str, str], created: tuple[int, int, int]) -> Engine:
    """Gangs of one, `a`, `b` and `c`, each promised a node of its own that is still being left."""
    numbers = (1, 2, 3)
    running = engine(
        CONF,
        *(node(f"n{number}", cpu=1, labels={"name": f"n{number}"}) for number in numbers),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in numbers),
        *(PriorityClassFact(name=name, value=value) for name, value in (("low", 1), ("high", 9), ("urgent", 100))),
        *(
            gang(name, priority_class=priority, created=age)
            for name, priority, age in zip("abc", priorities, created, strict=True)
        ),
        *(task(f"{name}-0", name, shape=only_on(f"n{number}")) for name, number in zip("abc", numbers, strict=True)),
    )
    cycle(running)
    assert promised(running) == {"a-0": "n1", "b-0": "n2", "c-0": "n3"}
    return running


def test_a_stronger_gang_takes_as_many_promises_as_it_needs_those_of_the_weakest_first() -> None:
    running = three_promised(priorities=("low", "high", "low"), created=(1, 1, 1))

    cycle(running, gang("strong", min=2, priority_class="urgent"), *crew("strong", 2), now=1)

    where = promised(running)
    assert where.pop("b-0") == "n2"
    assert sorted(where) == ["strong-worker-0", "strong-worker-1"]
    assert sorted(where.values()) == ["n1", "n3"]


def test_a_stronger_gang_of_roles_takes_a_promise_too() -> None:
    running = three_promised(priorities=("low", "high", "high"), created=(1, 1, 1))
    roles = (("leader", 1), ("worker", 1))

    cycle(
        running,
        gang("strong", min=2, min_roles=roles, priority_class="urgent"),
        task("strong-0", "strong", role="leader"),
        task("strong-1", "strong", role="worker"),
        now=1,
    )

    where = promised(running)
    assert sorted(where) == ["b-0", "strong-0", "strong-1"]
    assert sorted(where.values()) == ["n1", "n2", "n3"]


@pytest.mark.parametrize("policies", [(), (SubgroupPolicy(name="part", match_keys=("part",)),)])
def test_what_a_stronger_gang_wants_beyond_its_minimum_takes_no_promise(policies: tuple[SubgroupPolicy, ...]) -> None:
    running = three_promised(priorities=("low", "low", "low"), created=(1, 1, 1))
    before = promised(running)

    cycle(
        running,
        node("n4", cpu=1),
        gang("strong", priority_class="urgent", subgroups=policies),
        task("strong-0", "strong", on="n4", labels={"part": "0"}),
        task("strong-1", "strong", labels={"part": "1"}),
        now=1,
    )

    assert promised(running) == before


@pytest.mark.parametrize(("created", "youngest"), [((1, 2, 3), "c"), ((3, 1, 2), "a"), ((1, 3, 2), "b")])
def test_among_equally_weak_gangs_the_youngest_gives_up_its_promise(
    created: tuple[int, int, int], youngest: str
) -> None:
    running = three_promised(priorities=("low", "low", "low"), created=created)
    before = promised(running)

    cycle(running, gang("strong", priority_class="urgent"), *crew("strong", 1), now=1)

    assert set(before) - set(promised(running)) == {f"{youngest}-0"}


def test_gangs_as_strong_and_gangs_too_small_to_help_keep_their_promises_and_what_was_found_before_is_told() -> None:
    running = three_promised(priorities=("low", "urgent", "urgent"), created=(1, 1, 1))
    before = promised(running)

    strong = cycle(running, gang("strong", min=2, priority_class="urgent"), *crew("strong", 2), now=1).verdicts[-1]

    assert promised(running) == before
    assert (bare(strong.gang), strong.state) == ("strong", "waiting")
    assert strong.blockers[0].message == "0/3 nodes take default/strong-worker-0: 3 insufficient cpu"
