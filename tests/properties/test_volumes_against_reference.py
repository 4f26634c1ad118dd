"""The book of volumes lets a pod go to the nodes to which the plain rule lets it, and gives it the volumes there that
the plain rule gives it; and whatever a statement promised, undoing it leaves no trace.
"""

from random import Random

import numpy as np
from hypothesis import given

from posse.cluster.facts import ClaimReference
from posse.cluster.records import Bind, CycleInput
from posse.cluster.volume_plans import plan_in
from posse.scheduler.engine import Engine
from posse.scheduler.statement import Statement
from posse.scheduler.volumes.book import VolumeBook
from tests.builders import conf, engine, gang, task
from tests.properties import storage
from tests.properties.effort import tried
from tests.reference.volumes import found_on
from tests.worlds.strategies import seeds

CLAIMS = 4


class Stage:
    """A cluster with storage, a gang of pods that use some of its claims, and the book."""

    def __init__(self, seed: int, pods: int = 1) -> None:
        self.random = random = Random(seed)
        volumes = [storage.volume(random, number) for number in range(random.randint(0, 10))]
        self.claims = [storage.claim(random, number, volumes) for number in range(CLAIMS)]
        self.nodes = storage.nodes(random)
        self.uses = [random.sample(range(CLAIMS), random.randint(1, 2)) for _ in range(pods)]
        members = [task(f"p{n}", "a", shape={"claims": references(uses)}) for n, uses in enumerate(self.uses)]
        facts = [*self.nodes, *volumes, *self.claims, *storage.surroundings(random), gang("a"), *members]
        self.book = VolumeBook()
        self.engine: Engine = engine(conf("gang", "predicates"), *facts, books={"volume": self.book})


def references(numbers: list[int]) -> tuple[ClaimReference, ...]:
    return tuple(ClaimReference("volume", f"default/c{number}") for number in sorted(numbers))


@tried(400)
@given(seed=seeds)
def test_every_node_is_judged_as_by_the_plain_rule(seed: int) -> None:
    stage = Stage(seed)
    world, (uses,) = stage.engine.world, stage.uses
    row, wanted = world.tasks.find("default/p0"), references(uses)
    refused = np.zeros(len(world.nodes), np.bool_)
    for objection in stage.book.objections(world, row, wanted):
        refused |= objection.nodes

    for node in stage.nodes:
        at = world.nodes.find(node.name)
        expected = found_on(node, [stage.claims[number] for number in uses], world.storage)
        assert bool(refused[at]) == (expected is None), node.name
        if expected is None:
            continue
        token = stage.book.reserve(world, row, at, wanted)
        plans = {payload.name: plan_in(payload) for payload in stage.book.payloads(world, row, at, wanted)}
        stage.book.undo(token)
        assert {claim: plan.volume for claim, plan in plans.items()} == expected
        assert {plan.node for plan in plans.values() if not plan.volume} <= {node.name}


@tried(150)
@given(seed=seeds)
def test_undoing_a_statement_leaves_no_promise(seed: int) -> None:
    stage = Stage(seed, pods=5)
    session, random, ledger = stage.engine.open(0), stage.random, stage.engine.world.columns.ledger
    statement, waiting, world = Statement(session), list(range(5)), stage.engine.world
    marks = [(0, stage.book.portrait())]
    given_node: list[int] = []
    for _ in range(12):
        match random.choice(("give", "give", "take", "mark", "undo")):
            case "give" if waiting:
                task_row = world.tasks.find(f"default/p{waiting.pop(random.randrange(len(waiting)))}")
                statement.allocate(_rows(task_row), _rows(random.randrange(len(world.nodes))))
                given_node.append(task_row)
            case "take" if given_node:
                statement.release(_rows(given_node.pop(random.randrange(len(given_node)))))
            case "mark":
                marks.append((statement.checkpoint(), stage.book.portrait()))
            case "undo":
                marks = marks[: random.randint(1, len(marks))]
                statement.rollback(marks[-1][0])
                assert stage.book.portrait() == marks[-1][1]
                given_node = [row for row in range(len(world.tasks)) if ledger.task_node[row] >= 0]
                names = {f"default/p{n}": n for n in range(5)}
                waiting = [names[world.tasks.keys[row]] for row in range(5) if ledger.task_node[row] < 0]
    statement.rollback()

    assert stage.book.portrait() == {}


def _rows(row: int) -> np.ndarray:
    return np.array([row], np.int32)


@tried(100)
@given(seed=seeds)
def test_in_a_cycle_no_volume_goes_to_two_claims_and_whoever_is_bound_may_be_there(seed: int) -> None:
    stage = Stage(seed, pods=4)
    effects = [effect for effect in stage.engine.cycle(CycleInput(0)).effects if isinstance(effect, Bind)]
    plans = {payload.name: plan_in(payload) for effect in effects for payload in effect.payloads}
    volumes = [plan.volume for plan in plans.values() if plan.volume]

    assert len(volumes) == len(set(volumes))
    assert set(stage.book.portrait()) == set(plans)


def test_the_made_up_storage_has_something_of_everything() -> None:
    seen = {"bound": 0, "made": 0, "refused": 0}
    for seed in range(60):
        stage = Stage(seed)
        for node in stage.nodes:
            found = found_on(node, [stage.claims[n] for n in stage.uses[0]], stage.engine.world.storage)
            seen["refused"] += found is None
            seen["bound"] += any((found or {}).values())
            seen["made"] += "" in (found or {}).values()

    assert min(seen.values()) > 10
