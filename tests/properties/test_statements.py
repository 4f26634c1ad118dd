"""Whatever a statement did, undoing it leaves no trace: not in the world, not in a plugin's state, not in a book of
claims.
"""

from random import Random

import numpy as np
from hypothesis import given
from msgspec import structs

from posse.cluster.audit import audit
from posse.cluster.facts import ClaimReference, Fact, TaskFact
from posse.cluster.portrait import Portrait, portrait
from posse.cluster.status import OCCUPIES, Status
from posse.scheduler.engine import Engine
from posse.scheduler.statement import Statement
from tests.builders import conf, engine
from tests.properties.effort import tried
from tests.properties.plugins import Licences, with_witness
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds

STEPS = 14
LICENCE = ClaimReference("licence", "solver")


class Undoing:
    """A statement that does things at random, and remembers how all stood at each checkpoint."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.book = Licences({f"node-{number}": self.random.randint(0, 3) for number in range(6)})
        facts = [self.claiming(fact) for fact in random_world(seed)]
        self.engine = engine(
            conf("gang witness drf proportion"), *facts, registry=with_witness(), books={"licence": self.book}
        )
        session = self.engine.open(0)
        for plugin in self.engine.tiers.plugins:
            plugin.on_open(session)
        self.statement = Statement(session)
        self.marks = [(self.statement.checkpoint(), self.standing())]

    def claiming(self, fact: Fact) -> Fact:
        """Some pods need a licence."""
        if isinstance(fact, TaskFact) and self.random.random() < 0.3:
            return structs.replace(fact, shape=structs.replace(fact.shape, claims=(LICENCE,)))
        return fact

    def standing(self) -> tuple[Portrait, list[str], list[str]]:
        """Everything that a statement can touch."""
        states = [repr(plugin.state) for plugin in self.engine.tiers.plugins]
        return portrait(self.engine.world), states, sorted(repr(seat) for seat in self.book.taken)

    def rows(self, *states: Status) -> list[int]:
        """Tasks in one of these states."""
        world = self.engine.world
        rows = [row for row in world.tasks.declared() if world.columns.ledger.task_status[row] in states]
        return self.random.sample(rows, min(len(rows), self.random.randint(1, 3)))

    def step(self) -> None:
        """Do one thing."""
        self.random.choice((self.give, self.give, self.promise, self.take, self.evict, self.mark, self.undo))()

    def give(self) -> None:
        rows = self.rows(Status.PENDING)
        self.statement.allocate(_array(rows), self.anywhere(rows))

    def promise(self) -> None:
        rows = self.rows(Status.PENDING)
        self.statement.pipeline(_array(rows), self.anywhere(rows))

    def take(self) -> None:
        self.statement.release(_array(self.rows(Status.ALLOCATED, Status.PIPELINED)))

    def evict(self) -> None:
        self.statement.evict(_array(self.rows(*(status for status in Status if OCCUPIES[status]))))

    def mark(self) -> None:
        self.marks.append((self.statement.checkpoint(), self.standing()))

    def undo(self) -> None:
        """Return to some checkpoint."""
        self.marks = self.marks[: self.random.randint(1, len(self.marks))]
        checkpoint, before = self.marks[-1]
        self.statement.rollback(checkpoint)
        assert self.standing() == before

    def anywhere(self, rows: list[int]) -> np.ndarray:
        """Some node for each of some tasks, whether or not there is room."""
        return _array([self.random.choice(self.engine.world.nodes.declared()) for _ in rows])


def _array(rows: list[int]) -> np.ndarray:
    return np.array(rows, np.int32)


@tried(150)
@given(seed=seeds)
def test_undoing_restores_everything_to_the_last_bit(seed: int) -> None:
    undoing = Undoing(seed)
    for _ in range(STEPS):
        undoing.step()
        assert audit(undoing.engine.world) == []

    undoing.statement.rollback()

    assert undoing.standing() == undoing.marks[0][1]
    assert len(undoing.statement) == 0


def test_the_made_up_plugin_and_book_do_notice_things() -> None:
    undoings = [Undoing(seed) for seed in range(10)]
    for undoing in undoings:
        for _ in range(STEPS):
            undoing.step()
    assert any(undoing.book.taken for undoing in undoings)
    assert any(_witness(undoing.engine) for undoing in undoings)


def _witness(running: Engine) -> list[tuple[str, str]]:
    states = {plugin.name: plugin.state for plugin in running.tiers.plugins}
    witnessed: list[tuple[str, str]] = states["witness"]
    return witnessed
