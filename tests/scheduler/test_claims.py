"""Claims: what a pod needs beyond room, kept in books that are made up here."""

from posse.cluster.facts import ClaimReference, Gone
from posse.cluster.records import Bind, CycleInput, Payload, Refused
from posse.scheduler.engine import Engine
from tests.builders import binds, conf, crew, cycle, engine, gang, node, task
from tests.properties.plugins import Licences, Seat

SOLVER = {"claims": (ClaimReference("licence", "solver"),)}
CONF = conf("gang", "predicates", actions="allocate")


def licensed(book: Licences, *facts: object) -> Engine:
    return engine(CONF, node("n1", cpu=9), node("n2", cpu=9), *facts, books={"licence": book}, checks=True)


def test_pods_go_only_where_their_claims_are_served() -> None:
    running = licensed(Licences({"n2": 2}), gang("a", min=2), *crew("a", 2, shape=SOLVER))

    assert binds(running) == {"a-worker-0": "n2", "a-worker-1": "n2"}


def test_what_must_be_done_for_a_claim_travels_with_the_bind() -> None:
    running = licensed(Licences({"n1": 1}), gang("a"), *crew("a", 1, shape=SOLVER))

    payload = Payload("licence", "solver", "n1")
    assert cycle(running).effects == (Bind("default/a-worker-0", "a-worker-0", "n1", "default/a", (payload,)),)


def test_a_gang_that_falls_short_gives_back_what_it_reserved() -> None:
    book = Licences({"n1": 1, "n2": 1})
    running = licensed(book, gang("a", min=3), *crew("a", 3, shape=SOLVER))

    assert binds(running) == {}
    assert book.taken == []


def test_and_the_next_gang_gets_it_in_the_same_cycle() -> None:
    book = Licences({"n1": 1, "n2": 1})
    running = licensed(
        book,
        gang("a", min=3, created=1),
        *crew("a", 3, shape=SOLVER),
        gang("b", min=2, created=2),
        *crew("b", 2, shape=SOLVER),
    )

    assert sorted(binds(running)) == ["b-worker-0", "b-worker-1"]
    assert sorted(book.taken, key=lambda seat: seat.node) == [
        Seat("n1", f"default/{_of(book, 'n1')}"),
        Seat("n2", f"default/{_of(book, 'n2')}"),
    ]


def _of(book: Licences, name: str) -> str:
    return next(seat.pod for seat in book.taken if seat.node == name).removeprefix("default/")


def test_the_reason_of_a_book_is_told() -> None:
    running = licensed(Licences({}), gang("a"), *crew("a", 1, shape=SOLVER))
    (verdict,) = cycle(running).verdicts

    assert verdict.pods[0].message == "0/2 nodes are unavailable: 2 no licence solver left."


def test_a_claim_that_nobody_keeps_a_book_for_blocks_nobody() -> None:
    shape = {"claims": (ClaimReference("volume", "data"),)}

    assert binds(engine(CONF, node("n1"), gang("a"), *crew("a", 1, shape=shape))) == {"a-worker-0": "n1"}


def test_a_device_that_nobody_keeps_a_book_for_is_waited_for() -> None:
    shape = {"claims": (ClaimReference("device", "gpu-0"),)}
    running = engine(CONF, node("n1"), gang("a"), task("a-0", "a", shape=shape))
    (verdict,) = cycle(running).verdicts

    assert verdict.pods[0].message == "0/1 nodes are unavailable: 1 device claim gpu-0 cannot be served here."


def test_a_copy_of_an_engine_keeps_its_own_books() -> None:
    book = Licences({"n1": 1})
    running = licensed(book, gang("a"), *crew("a", 1, shape=SOLVER))

    assert binds(running.fork()) == {"a-worker-0": "n1"}
    assert book.taken == []


def test_a_refused_bind_gives_the_claim_back_and_the_pod_gets_it_again() -> None:
    book = Licences({"n1": 1})
    running = licensed(book, gang("a"), *crew("a", 1, shape=SOLVER))
    assert binds(running) == {"a-worker-0": "n1"}

    result = running.cycle(CycleInput(1, outcomes=(Refused("default/a-worker-0", "a-worker-0"),)))

    assert [effect.pod for effect in result.effects if isinstance(effect, Bind)] == ["default/a-worker-0"]
    assert len(book.taken) == 1


def test_a_pod_that_is_gone_gives_its_claim_back() -> None:
    book = Licences({"n1": 1})
    running = licensed(book, gang("a"), *crew("a", 1, shape=SOLVER))
    binds(running)

    cycle(running, Gone(kind="task", key="default/a-worker-0"), now=1)

    assert book.taken == []


def test_a_promise_that_ends_gives_its_claim_back() -> None:
    book = Licences({"n1": 2})
    running = licensed(book, task("old", cpu=9, on="n1", terminating=True), gang("a"), *crew("a", 1, shape=SOLVER))
    cycle(running)
    assert len(book.taken) == 1

    cycle(running, Gone(kind="gang", key="default/a"), now=1)

    assert book.taken == []


def test_a_pod_whose_claim_is_served_nowhere_buys_no_nodes() -> None:
    shape = {"claims": (ClaimReference("device", "gpu-0"),)}
    running = engine(CONF, node("n1"), gang("a"), task("a-0", "a", shape=shape))
    (verdict,) = cycle(running).verdicts

    assert verdict.pods[0].reason == "GangWaiting"


def test_a_pod_whose_claim_another_node_would_serve_buys_one() -> None:
    (verdict,) = cycle(licensed(Licences({}), gang("a"), *crew("a", 1, shape=SOLVER))).verdicts

    assert verdict.pods[0].reason == "Unschedulable"
