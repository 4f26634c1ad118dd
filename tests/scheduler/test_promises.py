"""Promises: made when room is being freed, kept over cycles, redeemed when it is free, ended when they have to be."""

from typing import ClassVar

import pytest

from posse.cluster.facts import Gone, PriorityClassFact, SubgroupPolicy
from posse.cluster.selectors import Requirement
from posse.cluster.status import Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang
from posse.scheduler.engine import Engine
from posse.scheduler.plugin import Plugin
from posse.scheduler.promises import PATIENCE
from posse.scheduler.registry import Registry, built_in
from tests.builders import bare, binds, conf, crew, cycle, engine, gang, node, queue, task, the_task
from tests.properties.plugins import with_witness

CONF = conf("priority gang", "predicates", actions="allocate")
OLD_GONE = Gone(kind="task", key="default/old")


def promised(running: Engine) -> dict[str, str]:
    """Who is promised which node."""
    world = running.world
    nodes = world.columns.ledger.task_node
    return {bare(world.tasks.keys[row]): world.nodes.keys[nodes[row]] for row, _ in running.promises()}


def waiting(**fields: object) -> Engine:
    """A gang of three, for which one node has room now and one once a pod has left."""
    running = engine(
        CONF,
        node("n1", cpu=2),
        node("n2", cpu=1),
        task("old", cpu=2, on="n1", terminating=True),
        gang("a", min=3),
        *crew("a", 3),
        checks=True,
        **fields,
    )
    assert binds(running, now=0) == {}
    return running


def test_a_gang_is_promised_all_of_its_nodes_those_included_that_are_free() -> None:
    assert sorted(promised(waiting()).values()) == ["n1", "n1", "n2"]


def test_the_verdict_tells_every_member_what_it_is_promised() -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a", min=2),
        *crew("a", 2),
    )
    (verdict,) = (each for each in cycle(running).verdicts if each.gang == "default/a")

    assert verdict.state == "pipelined"
    assert {bare(pod.pod): pod.promised for pod in verdict.pods} == promised(running)
    assert sorted(pod.nominated for pod in verdict.pods) == ["n1", "n2"]


def test_nobody_else_gets_what_is_promised() -> None:
    running = waiting()

    assert binds(running, gang("b", min=1), *crew("b", 1), now=1) == {}
    assert len(promised(running)) == 3


def test_it_is_redeemed_when_the_room_is_free() -> None:
    running = waiting()
    where = promised(running)

    assert binds(running, OLD_GONE, gang("b", min=1), *crew("b", 1), now=1) == where
    assert promised(running) == {}


def test_it_stays_as_long_as_somebody_is_leaving_the_node() -> None:
    running = waiting()

    assert binds(running, now=10 * PATIENCE) == {}
    assert promised(running)["a-worker-1"] == "n1"


def test_on_a_node_that_nobody_leaves_patience_ends() -> None:
    running = engine(
        CONF, node("n1", cpu=2), task("old", cpu=2, on="n1", terminating=True), gang("a", min=2), *crew("a", 2)
    )
    binds(running, now=5)
    assert running.next_deadline() is None
    cycle(running, OLD_GONE, task("quicker", cpu=2, on="n1"), now=6)
    assert running.next_deadline() == 5 + PATIENCE

    cycle(running, now=4 + PATIENCE)
    assert len(promised(running)) == 2
    cycle(running, now=5 + PATIENCE)

    assert promised(running) == {}
    assert running.next_deadline() is None


def test_it_ends_with_its_node() -> None:
    running = waiting()
    cycle(running, Gone(kind="node", key="n1"), now=1)

    assert promised(running) == {}
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_it_ends_with_a_gang_that_can_no_longer_run() -> None:
    running = waiting()
    cycle(running, Gone(kind="task", key="default/a-worker-2"), now=1)

    assert promised(running) == {}


class BansPlugin(Plugin):
    """Call gangs with the annotation `banned` invalid."""

    name: ClassVar[str] = "bans"

    def gang_valid(self, gang: Gang) -> Blocker | None:
        """Look at the annotation."""
        return Blocker(kind="validity", plugin=self.name, message="banned") if "banned" in gang.annotations else None


def test_it_ends_with_a_gang_that_a_plugin_calls_invalid() -> None:
    known = built_in()
    registry = Registry({**known.plugins, BansPlugin.name: BansPlugin}, known.actions)
    running = engine(
        conf("gang bans", "predicates"),
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a"),
        *crew("a", 1),
        registry=registry,
    )
    cycle(running)
    assert promised(running) == {"a-worker-0": "n1"}

    cycle(running, gang("a", annotations={"banned": "yes"}), now=1)

    assert promised(running) == {}


def test_it_ends_with_a_gang_that_is_no_longer_declared() -> None:
    running = waiting()
    cycle(running, Gone(kind="gang", key="default/a"), now=1)

    assert promised(running) == {}


def test_a_deadline_counts_from_the_first_cycle_of_the_promise() -> None:
    running = waiting()
    before = dict(running.promises())
    cycle(running, now=50)

    assert dict(running.promises()) == before


def test_gangs_are_redeemed_in_their_order() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        task("old", cpu=2, on="n1", terminating=True),
        *(gang(name, min=1, created=created) for name, created in (("a", 1), ("b", 2))),
        *crew("a", 1),
        *crew("b", 1),
    )
    binds(running)

    assert list(binds(running, OLD_GONE, now=1)) == ["a-worker-0", "b-worker-0"]


def test_of_two_who_are_promised_one_node_the_first_in_line_gets_what_is_free_first() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        task("old", on="n1", terminating=True),
        task("older", on="n1", terminating=True),
        gang("second", created=2),
        *crew("second", 1),
        gang("first", created=1),
        *crew("first", 1),
        checks=True,
    )
    cycle(running)
    assert promised(running) == {"first-worker-0": "n1", "second-worker-0": "n1"}

    assert binds(running, OLD_GONE, now=1) == {"first-worker-0": "n1"}
    assert promised(running) == {"second-worker-0": "n1"}


def test_who_can_start_with_a_part_of_its_promise_does_and_keeps_the_rest() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1) for name in ("n1", "n2")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2)),
        gang("a", min=1),
        *crew("a", 2),
        checks=True,
    )
    cycle(running)
    where = promised(running)
    assert sorted(where.values()) == ["n1", "n2"]

    others = queue("goes-first", created=-1), gang("b", queue="goes-first"), *crew("b", 1)
    bound = binds(running, Gone(kind="task", key="default/old1"), *others, now=1)

    assert list(bound.values()) == ["n1"]
    assert promised(running) == {pod: name for pod, name in where.items() if name == "n2"}
    assert [since for _, since in running.promises()] == [0]


def test_its_patience_counts_from_the_last_member_that_was_promised_a_node() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1) for name in ("n1", "n2", "n3")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2, 3)),
        gang("a", min=2),
        *crew("a", 2),
    )
    cycle(running, now=5)
    cycle(running, *crew("a", 1, start=2), now=50)
    assert sorted(since for _, since in running.promises()) == [5, 5, 50]

    quicker = [task(f"quicker{number}", on=f"n{number}") for number in (1, 2, 3)]
    cycle(running, *(Gone(kind="task", key=f"default/old{number}") for number in (1, 2, 3)), *quicker, now=60)

    assert running.next_deadline() == 50 + PATIENCE


def test_that_a_node_of_others_is_being_left_keeps_no_promise_alive() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1, labels={"name": name}) for name in ("n1", "n2")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2)),
        *(gang(name) for name in "ab"),
        task("a-0", "a", shape=only_on("n1")),
        task("b-0", "b", shape=only_on("n2")),
    )
    cycle(running, now=5)
    cycle(running, Gone(kind="task", key="default/old1"), task("quicker", on="n1"), now=6)
    assert running.next_deadline() == 5 + PATIENCE

    cycle(running, now=5 + PATIENCE)

    assert promised(running) == {"b-0": "n2"}


def test_it_ends_when_its_gang_needs_more_than_it_is_promised() -> None:
    running = waiting()

    cycle(running, gang("a", min=4), task("a-worker-3", "a", cpu=99), now=1)

    assert promised(running) == {}


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


def test_a_copy_keeps_the_promises_and_leaves_the_original_its_own() -> None:
    running = waiting()
    copy = running.fork()
    where = promised(running)

    assert binds(copy, OLD_GONE, now=1) == where
    assert promised(running) == where


@pytest.mark.parametrize("now", [1, 2])
def test_upstream_forgets_what_it_promised_when_the_cycle_ends(now: int) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a", min=1, created=5),
        *crew("a", 1),
        mode="upstream",
    )
    cycle(running)
    assert running.promises() == []
    assert the_task(running, "a-worker-0").status is Status.PENDING

    assert binds(running, OLD_GONE, gang("b", min=1, created=1), *crew("b", 1), now=now) == {"b-worker-0": "n1"}


def test_a_gang_of_higher_priority_takes_promised_room_and_the_whole_promise_ends() -> None:
    running = waiting()
    urgent = PriorityClassFact(name="urgent", value=100)

    cycle(running, urgent, gang("b", min=1, priority_class="urgent"), *crew("b", 1), now=1)

    assert set(promised(running)) <= {"b-worker-0"}
    assert the_task(running, "b-worker-0").status in (Status.BINDING, Status.PIPELINED)
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_a_gang_of_equal_priority_takes_nothing() -> None:
    running = waiting()
    where = promised(running)

    cycle(running, gang("b", min=1), *crew("b", 1), now=1)

    assert promised(running) == where


def test_a_promise_that_would_not_help_is_left_alone() -> None:
    running = waiting()
    where, urgent = promised(running), PriorityClassFact(name="urgent", value=100)

    cycle(running, urgent, gang("b", min=9, priority_class="urgent"), *crew("b", 9), now=1)

    assert promised(running) == where


def test_it_stays_for_all_of_the_gang_while_one_of_its_nodes_is_being_left() -> None:
    running = waiting()
    where = promised(running)

    binds(running, now=2 * PATIENCE)

    assert promised(running) == where
    assert running.next_deadline() is None


def test_after_a_restart_it_is_made_again_from_what_the_pods_say() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        node("n2", cpu=1),
        task("old", cpu=2, on="n1", terminating=True),
        gang("older", min=1, created=1),
        *crew("older", 1),
        gang("a", min=3, created=2),
        task("a-worker-0", "a", nominated="n1"),
        task("a-worker-1", "a", nominated="n1"),
        task("a-worker-2", "a", nominated="n2"),
        checks=True,
    )

    assert binds(running, now=0) == {}
    assert promised(running) == {"a-worker-0": "n1", "a-worker-1": "n1", "a-worker-2": "n2"}


def test_one_that_is_made_anew_has_a_clock_of_its_own() -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        task("other", on="n2"),
        gang("a"),
        *crew("a", 1),
    )
    cycle(running, now=5)
    cycle(running, OLD_GONE, task("quicker", on="n1"), now=6)

    cycle(running, task("other", on="n2", terminating=True), now=5 + PATIENCE)

    assert promised(running) == {"a-worker-0": "n2"}
    assert [since for _, since in running.promises()] == [5 + PATIENCE]


def test_plugins_learn_of_a_promise_and_of_its_end() -> None:
    running = engine(
        conf("gang witness", "predicates"),
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a"),
        *crew("a", 1),
        registry=with_witness(),
    )
    cycle(running)
    cycle(running, Gone(kind="node", key="n1"), now=1)

    (witness,) = (plugin for plugin in running.tiers.plugins if plugin.name == "witness")
    assert witness.state == [("came", "default/a-worker-0"), ("went", "default/a-worker-0")]


def test_what_pods_say_makes_promises_after_a_restart_only_later_the_line_decides() -> None:
    running = engine(CONF, node("n1", cpu=1), PriorityClassFact(name="urgent", value=100))
    cycle(running)

    named = gang("weak"), task("weak-0", "weak", nominated="n1")

    assert binds(running, *named, gang("strong", priority_class="urgent"), *crew("strong", 1), now=1) == {
        "strong-worker-0": "n1"
    }


@pytest.mark.parametrize("listed", [("first", "second"), ("second", "first")])
def test_after_a_restart_the_first_in_line_is_promised_again_what_does_for_one(listed: tuple[str, str]) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        *(gang(name, created=1 if name == "first" else 2) for name in listed),
        *(task(f"{name}-0", name, nominated="n1") for name in listed),
        gang("oldest", created=0),
        *crew("oldest", 1),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {"first-0": "n1"}


@pytest.mark.parametrize("named", ["n1", "n2", "gone"])
def test_after_a_restart_half_a_promise_is_not_made_again(named: str) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        task("stays", on="n2"),
        gang("a", min=2),
        task("a-worker-0", "a", nominated="n1"),
        task("a-worker-1", "a", nominated=named),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {}
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_after_a_restart_a_gang_that_runs_has_no_claim_to_what_its_further_pods_name() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        task("old", on="n1", terminating=True),
        gang("a"),
        task("a-0", "a", on="n1"),
        task("a-1", "a", nominated="n1"),
        PriorityClassFact(name="urgent", value=100),
        gang("strong", priority_class="urgent"),
        *crew("strong", 1),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {"strong-worker-0": "n1"}


def test_after_a_restart_a_pod_that_runs_and_still_names_its_node_runs_on() -> None:
    running = engine(CONF, node("n1"), gang("a"), task("a-0", "a", on="n1", nominated="n1"), checks=True)
    cycle(running)

    assert promised(running) == {}
    assert the_task(running, "a-0").status is Status.RUNNING


@pytest.mark.parametrize("whose", ["", "nobody"])
def test_after_a_restart_nodes_that_pods_of_no_declared_gang_name_are_promised_to_nobody(whose: str) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        task("others", whose, nominated="n1"),
        gang("empty"),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {}


def test_after_a_restart_a_pod_that_names_a_lost_node_gets_another() -> None:
    running = engine(CONF, node("n1"), gang("a"), task("a-0", "a", nominated="gone"), checks=True)

    assert binds(running) == {"a-0": "n1"}
    assert the_task(running, "a-0").node == running.world.nodes.find("n1")


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


def only_on(name: str) -> dict[str, object]:
    """What a pod asks for that wants one node."""
    return {"node_selector": (Requirement("name", "In", (name,)),)}
