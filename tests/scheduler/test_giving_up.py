"""Giving up: when one member finds no node, the others are tried only if the gang could still come to its minimum.

Who is tried shows in what a member is told: one that would have had a node is told which, one that was not tried is
told of the one that found none.
"""

from posse.cluster.facts import Port, SubgroupPolicy
from posse.scheduler.engine import Engine
from tests.builders import amounts, bare, binds, conf, cycle, engine, gang, node, queue, task

CONF = conf("priority gang", "predicates nodeorder", actions="allocate")
TOO_LARGE = 99
ROLES = (("ps", 1), ("worker", 1))
REPLICA = SubgroupPolicy(name="replica", size=2, match_keys=("replica",))


def tried(running: Engine) -> set[str]:
    """The waiting pods that were looked for a node for, in a cycle that binds nobody."""
    result = cycle(running)
    assert not result.effects
    (verdict,) = (each for each in result.verdicts if each.pods)
    own = {
        pod.pod: "possibly be assigned" in pod.message or pod.message.startswith("0/1 nodes are unavailable")
        for pod in verdict.pods
    }
    return {bare(pod) for pod, is_own in own.items() if is_own}


def test_where_all_are_needed_the_first_that_finds_no_node_ends_it() -> None:
    running = engine(CONF, node("n1"), gang("a", min=2), task("a-w-0", "a", cpu=TOO_LARGE), task("a-w-1", "a"))

    assert tried(running) == {"a-w-0"}


def test_where_one_may_be_missing_the_others_are_tried() -> None:
    running = engine(
        CONF, node("n1"), gang("a", min=2), task("a-w-0", "a", cpu=TOO_LARGE), task("a-w-1", "a"), task("a-w-2", "a")
    )

    assert sorted(binds(running)) == ["a-w-1", "a-w-2"]


def test_a_replica_that_needs_all_of_its_pods_ends_with_the_first_that_finds_no_node() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=2, subgroups=(REPLICA,)),
        *(task(f"a-r0-{number}", "a", cpu=cpu, labels={"replica": "0"}) for number, cpu in enumerate((TOO_LARGE, 1))),
        *(task(f"a-r1-{number}", "a", cpu=cpu, labels={"replica": "1"}) for number, cpu in enumerate((TOO_LARGE, 2))),
    )

    assert tried(running) == {"a-r0-0", "a-r1-0"}


def test_where_a_gang_needs_all_of_its_pods_so_does_each_replica() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=3, subgroups=(REPLICA,)),
        *(
            task(f"a-r0-{number}", "a", cpu=cpu, labels={"replica": "0"})
            for number, cpu in enumerate((TOO_LARGE, 1, 1))
        ),
    )

    assert tried(running) == {"a-r0-0"}


def test_a_replica_with_more_pods_than_it_needs_does_without_one_whatever_its_role() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=3, min_roles=(("ps", 2),), subgroups=(REPLICA,)),
        task("a-r0-0", "a", cpu=TOO_LARGE, role="ps", labels={"replica": "0"}),
        *(task(f"a-r0-{number}", "a", role="worker", labels={"replica": "0"}) for number in (1, 2)),
        *(task(f"a-r1-{number}", "a", role="ps", labels={"replica": "1"}) for number in (3, 4)),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-r0-1", "a-r0-2", "a-r1-3", "a-r1-4"]


def test_without_a_role_that_is_needed_the_others_are_not_tried() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=2, min_roles=ROLES),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker"),
        task("a-w-2", "a", role="worker"),
    )

    assert tried(running) == {"a-ps-0"}


def test_a_role_that_has_its_minimum_does_not_keep_the_others_waiting() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=2, min_roles=ROLES),
        task("a-ps-9", "a", role="ps", on="n1"),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker", cpu=2),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-w-1"]


def test_a_pod_that_asks_for_nothing_stands_for_its_role() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=2, min_roles=ROLES),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker", cpu=2),
        task("a-ps-2", "a", role="ps", cpu=0),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-w-1"]


def test_a_role_of_which_none_is_needed_keeps_nobody_waiting() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=1, min_roles=(("ps", 0), ("worker", 1))),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker"),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-w-1"]


MORE_THAN_THE_GANG = (("ps", 2), ("worker", 2))
"""Minimums that together are more than the gang's own, so that they are not asked for."""


def test_where_roles_are_not_asked_for_the_others_are_tried_if_they_are_enough_with_those_that_run() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=3, min_roles=MORE_THAN_THE_GANG),
        task("a-w-9", "a", role="worker", on="n1"),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker"),
        task("a-w-2", "a", role="worker"),
        task("a-ps-3", "a", role="ps"),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-w-1", "a-w-2"]


def test_where_roles_are_not_asked_for_and_the_others_are_too_few_they_are_not_tried() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=3, min_roles=MORE_THAN_THE_GANG),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker"),
        task("a-w-2", "a", role="worker"),
        task("a-ps-3", "a", role="ps"),
    )

    assert tried(running) == {"a-ps-0"}


def test_where_roles_are_not_asked_for_nobody_counts_twice() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=3, min_roles=MORE_THAN_THE_GANG),
        task("a-w-9", "a", role="worker", on="n1"),
        task("a-ps-0", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-1", "a", role="worker"),
        task("a-ps-2", "a", role="ps"),
        task("a-ps-3", "a", role="ps"),
    )

    assert tried(running) == {"a-ps-0"}


def test_one_role_that_lacks_its_minimum_is_enough_to_give_up() -> None:
    running = engine(
        CONF,
        node("n1"),
        gang("a", min=3, min_roles=ROLES),
        task("a-helper-0", "a", role="helper", cpu=TOO_LARGE),
        task("a-ps-1", "a", role="ps", cpu=TOO_LARGE),
        task("a-w-2", "a", role="worker"),
        task("a-w-3", "a", role="worker"),
    )

    assert tried(running) == {"a-helper-0", "a-ps-1"}


def test_who_was_not_tried_for_its_role_is_told_so() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        gang("a", min=2, min_roles=(("ps", 0),)),
        *(task(f"a-ps-{number}", "a", role="ps", cpu=TOO_LARGE - number) for number in (0, 1)),
        task("a-w-2", "a", cpu=3),
    )
    (verdict,) = cycle(running).verdicts
    told = {bare(pod.pod): pod.message for pod in verdict.pods}

    assert told["a-ps-1"] == "another ps of this gang found no node"


def test_replicas_that_fit_alone_and_not_together_are_told_where_they_would_have_gone() -> None:
    running = engine(
        CONF,
        node("n1", cpu=3),
        gang("a", min=4, subgroups=(REPLICA,)),
        *(task(f"a-r{number // 2}-{number}", "a", labels={"replica": str(number // 2)}) for number in range(4)),
    )
    (verdict,) = cycle(running).verdicts
    told = {bare(pod.pod): pod.message for pod in verdict.pods}

    for pod in ("a-r0-0", "a-r0-1"):
        assert told[pod] == f"Pod default/{pod} can possibly be assigned to n1, once minAvailable is satisfied"


PORT = {"ports": (Port(8080, "TCP", "0.0.0.0"),)}
"""What makes pods go one by one."""


def test_a_pod_that_its_queue_refuses_does_not_keep_a_smaller_one_waiting() -> None:
    running = engine(
        conf("gang proportion", "predicates", actions="allocate"),
        node("n1"),
        queue("small", capability=amounts(cpu=1)),
        gang("a", queue="small"),
        task("a-w-0", "a", cpu=2, shape=PORT),
        task("a-w-1", "a", cpu=1, shape=PORT),
        checks=True,
    )

    assert binds(running) == {"a-w-1": "n1"}


def test_that_its_queue_refuses_them_one_by_one_is_told() -> None:
    running = engine(
        conf("gang proportion", "predicates", actions="allocate"),
        node("n1"),
        queue("small", capability=amounts(cpu=1)),
        gang("a", queue="small"),
        task("a-w-0", "a", cpu=2, shape=PORT),
    )
    (verdict,) = cycle(running).verdicts

    assert [blocker.kind for blocker in verdict.blockers] == ["queue"]
