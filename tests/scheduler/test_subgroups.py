"""Gangs of sub-gangs: whole sub-gangs, as many as are needed, or nothing."""

from posse.cluster.facts import GangFact, SubgroupPolicy, TaskFact
from tests.builders import binds, conf, crew, cycle, engine, gang, node, task, the_gang

CONF = conf("priority gang", "predicates", actions="allocate")


def serving(minimum: int, *, size: int = 2, groups: int = 1, **fields: object) -> GangFact:
    """Replicas of `size` pods, of which so many must start."""
    policy = SubgroupPolicy(name="replica", size=size, min_groups=groups, match_keys=("replica",))
    return gang("g", min=minimum, subgroups=(policy,), **fields)


def replica(number: int, pods: int, **fields: object) -> list[TaskFact]:
    return [task(f"g-r{number}-{each}", "g", labels={"replica": str(number)}, **fields) for each in range(pods)]


def test_as_many_replicas_start_as_fit_whole() -> None:
    running = engine(CONF, node("n1", cpu=5), serving(2), *replica(0, 2), *replica(1, 2), *replica(2, 2), checks=True)

    assert sorted(binds(running)) == ["g-r0-0", "g-r0-1", "g-r1-0", "g-r1-1"]


def test_fewer_replicas_than_needed_start_not_at_all() -> None:
    running = engine(CONF, node("n1", cpu=3), serving(4, groups=2), *replica(0, 2), *replica(1, 2), checks=True)

    assert binds(running) == {}


def test_and_leave_the_room_to_the_next_gang_of_the_same_cycle() -> None:
    running = engine(
        CONF,
        node("n1", cpu=3),
        serving(4, groups=2),
        *replica(0, 2),
        *replica(1, 2),
        gang("next", min=3, created=9),
        *crew("next", 3),
        checks=True,
    )

    assert sorted(binds(running)) == [f"next-worker-{number}" for number in range(3)]


def test_half_a_replica_does_not_count_even_if_the_gang_has_pods_enough() -> None:
    running = engine(CONF, node("n1", cpu=3), serving(3, size=2, groups=2), *replica(0, 2), *replica(1, 2), checks=True)

    assert binds(running) == {}


def test_a_replica_that_cannot_be_placed_makes_way_for_one_that_can() -> None:
    running = engine(CONF, node("n1", cpu=2), serving(2), *replica(0, 2, cpu=5), *replica(1, 2), checks=True)

    assert sorted(binds(running)) == ["g-r1-0", "g-r1-1"]


def test_replicas_are_taken_in_the_order_of_their_numbers() -> None:
    running = engine(CONF, node("n1", cpu=2), serving(2), *replica(10, 2), *replica(9, 2), checks=True)

    assert sorted(binds(running)) == ["g-r9-0", "g-r9-1"]


def test_replicas_of_higher_priority_go_first() -> None:
    running = engine(CONF, node("n1", cpu=2), serving(2), *replica(0, 2), *replica(1, 2, priority=7), checks=True)

    assert sorted(binds(running)) == ["g-r1-0", "g-r1-1"]


def two_kinds(minimum: int, *, first: int, second: int) -> GangFact:
    """A gang of two kinds of replicas of two pods, of which so many must start."""
    kinds = (("a-kind", "a", first), ("b-kind", "b", second))
    policies = (SubgroupPolicy(name=name, size=2, min_groups=groups, match_keys=(key,)) for name, key, groups in kinds)
    return gang("g", min=minimum, subgroups=tuple(policies))


def pair(kind: str, number: int, **fields: object) -> list[TaskFact]:
    return [task(f"g-{kind}{number}-{each}", "g", labels={kind: str(number)}, **fields) for each in range(2)]


def test_of_each_kind_as_many_replicas_as_it_needs_go_before_further_ones() -> None:
    running = engine(
        CONF,
        node("n1", cpu=4),
        two_kinds(4, first=1, second=1),
        *(each for kind in "ab" for number in range(3) for each in pair(kind, number)),
        checks=True,
    )

    assert sorted(binds(running)) == ["g-a0-0", "g-a0-1", "g-b0-0", "g-b0-1"]


def test_a_kind_that_has_its_replicas_already_makes_way_for_the_one_that_needs_more() -> None:
    running = engine(
        CONF,
        node("n1", cpu=6),
        two_kinds(6, first=1, second=2),
        *pair("a", 9, on="n1"),
        *(each for number in range(2) for each in (*pair("a", number, priority=5), *pair("b", number))),
        checks=True,
    )

    assert sorted(binds(running)) == ["g-b0-0", "g-b0-1", "g-b1-0", "g-b1-1"]


def test_pods_of_no_replica_are_each_their_own_rest() -> None:
    running = engine(CONF, node("n1", cpu=9), serving(3), *replica(0, 2), task("g-front", "g"), checks=True)

    assert len(binds(running)) == 3


def test_replicas_that_are_promised_room_are_promised_it_whole() -> None:
    running = engine(
        CONF,
        node("n1", cpu=3),
        task("old", cpu=2, on="n1", terminating=True),
        serving(2),
        *replica(0, 2),
        *replica(1, 2),
        checks=True,
    )
    assert binds(running) == {}

    promised = [running.world.tasks.keys[row] for row, _ in running.promises()]
    assert sorted(promised) == ["default/g-r0-0", "default/g-r0-1"]


def test_too_few_replicas_make_the_gang_invalid() -> None:
    running = engine(CONF, node("n1"), serving(2, groups=2), *replica(0, 2))
    (verdict,) = cycle(running).verdicts

    assert verdict.state == "invalid"
    assert verdict.blockers[0].message == "policy replica has 1 sub-gang and needs 2"


def test_a_replica_that_lost_a_pod_gets_it_back() -> None:
    running = engine(
        CONF,
        node("n1", cpu=9),
        serving(4, groups=2, phase="Running"),
        *replica(0, 2, on="n1"),
        *replica(1, 1, on="n1"),
        task("g-r1-9", "g", labels={"replica": "1"}),
        checks=True,
    )

    assert binds(running) == {"g-r1-9": "n1"}
    assert [each.is_ready for each in the_gang(running, "g").subgangs] == [True, True]


def test_a_surplus_pod_that_fits_nowhere_does_not_keep_the_others_of_its_replica_waiting() -> None:
    labels = {"replica": "0"}
    surplus = [task("g-r0-2", "g", cpu=99, labels=labels), task("g-r0-3", "g", labels=labels)]
    running = engine(CONF, node("n1", cpu=8), serving(2), *replica(0, 2, on="n1"), *surplus, checks=True)

    assert binds(running) == {"g-r0-3": "n1"}
