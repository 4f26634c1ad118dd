"""Enqueue: who is let into its queue."""

from posse.cluster.phases import GangPhase
from tests.builders import amounts, bare, conf, crew, cycle, engine, gang, node, queue, the_gang

CONF = conf("priority gang", "overcommit proportion", actions="enqueue")
ONE = amounts(cpu=1)


def admitted(running: object, *names: str) -> list[str]:
    return [name for name in names if the_gang(running, name).phase is GangPhase.INQUEUE]


def test_a_gang_without_minimal_resources_is_admitted_unasked() -> None:
    running = engine(CONF, queue("shut", state="Closed"), gang("a", queue="shut", min=99))
    cycle(running)

    assert admitted(running, "a") == ["a"]


def test_gangs_are_asked_in_order_until_the_cluster_is_promised_away() -> None:
    gangs = [
        gang(name, min_resources=amounts(cpu=4), created=created)
        for name, created in (("late", 3), ("first", 1), ("second", 2))
    ]
    running = engine(CONF, node("n1", cpu=8), *gangs)
    cycle(running)

    assert admitted(running, "first", "second", "late") == ["first", "second"]


def test_one_that_is_refused_is_passed_over_not_waited_for() -> None:
    gangs = [gang("huge", min_resources=amounts(cpu=99), created=1), gang("small", min_resources=ONE, created=2)]
    running = engine(CONF, node("n1", cpu=8), *gangs, *crew("huge", 1))
    result = cycle(running)

    assert admitted(running, "huge", "small") == ["small"]
    (verdict,) = (each for each in result.verdicts if each.gang == "default/huge")
    assert (verdict.phase, [blocker.kind for blocker in verdict.blockers]) == ("Pending", ["admission"])


def test_a_refused_gang_is_admitted_once_there_is_room() -> None:
    running = engine(CONF, node("n1", cpu=2), gang("a", min_resources=amounts(cpu=4)))
    cycle(running)
    assert admitted(running, "a") == []

    told = cycle(running, node("n2", cpu=8), now=1).verdicts

    assert admitted(running, "a") == ["a"]
    assert [(bare(verdict.gang), verdict.phase) for verdict in told] == [("a", "Inqueue")]


def test_why_a_gang_is_not_admitted_is_told_once_and_again_when_something_changed() -> None:
    running = engine(CONF, node("n1", cpu=2), gang("a", min_resources=amounts(cpu=4)), *crew("a", 4))
    told = [[bare(verdict.gang) for verdict in cycle(running, now=now).verdicts] for now in range(2)]
    again = cycle(running, gang("a", min_resources=amounts(cpu=5)), now=2).verdicts

    assert told[0] == ["a"]
    assert [bare(verdict.gang) for verdict in again] == ["a"]


def test_gangs_of_an_undeclared_queue_are_not_asked() -> None:
    running = engine(CONF, node("n1"), gang("a", queue="later"))
    cycle(running)

    assert admitted(running, "a") == []
