"""The probe: how many of a gang's waiting members would find a node now, and what the first that does not lacks.

On one fork of the world, used for all gangs: members are placed in order like in a cycle, refusals are read, and
everything is put back. Asking whether all requirements are met alone and together is done where a member was refused,
with its siblings placed.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.cluster.views import Gang, Task
from posse.scheduler.claims import Wanted
from posse.scheduler.engine import Engine
from posse.scheduler.placement.choice import Choice
from posse.scheduler.placement.terms import Clause
from posse.whatif.explanation import ClauseCount
from posse.whatif.places import OpenPlaces


class Refused(Struct, frozen=True):
    """A member that found no node, the nodes by their first refusal, and all its requirements."""

    task: str
    nodes: tuple[tuple[str, int], ...]
    clauses: tuple[ClauseCount, ...]


class Finding(Struct, frozen=True):
    """What a probe found.

    `placed` and `missing` are rows of waiting members, in order; those beyond the minimum are not asked.
    """

    placed: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    refused: tuple[Refused, ...] = ()


class Prober:
    """Places gangs for the sake of asking."""

    def __init__(self, engine: Engine, now: int) -> None:
        self.engine = engine
        self._session = engine.open(now)
        self._is_open = False

    def _open(self) -> None:
        """Let plugins look at how things stand."""
        if not self._is_open:
            for plugin in self.engine.tiers.plugins:
                plugin.on_open(self._session)
            self._is_open = True

    def probe(self, gang: Gang) -> Finding:
        """Place a gang's waiting members as far as they fit, and put them back."""
        self._open()
        session, world = self._session, self.engine.world
        mine = Gang(world, gang.row)
        places = OpenPlaces(mine)
        hopeless: dict[int, None] = {}
        placed: list[int] = []
        missing: list[int] = []
        refused: list[Refused] = []
        for row in self._tasks(mine):
            task = Task(world, row)
            if not places.count:
                break
            if not places.suits(task.fact.role):
                continue
            choice = None if task.shape_row in hopeless else session.chooser.choose(row)
            if isinstance(choice, Choice):
                self._put(row, choice)
                placed.append(row)
                places.fill(task.fact.role)
                continue
            missing.append(row)
            if choice is not None:
                hopeless[task.shape_row] = None
                refused.append(Refused(task.key, session.reasons.histogram(choice), self._clauses(task)))
        self._put_back(placed)
        return Finding(tuple(placed), tuple(self._needed(missing, places)), tuple(refused))

    def _needed(self, missing: list[int], places: OpenPlaces) -> Iterator[int]:
        """Those of the members without a node that it takes to fill the places that are still open."""
        for row in missing:
            role = Task(self.engine.world, row).fact.role
            if places.suits(role):
                places.fill(role)
                yield row

    def _tasks(self, gang: Gang) -> list[int]:
        session = self._session
        asking, best_effort = (session.pending(gang, best_effort=each).tolist() for each in (False, True))
        gated = [task.row for task in gang.members if task.status is Status.GATED]
        return [*asking, *best_effort, *gated]

    def _put(self, row: int, choice: Choice) -> None:
        tasks, nodes = np.array([row], np.int32), np.array([choice.node], np.int32)
        self._session.claims.reserve(tasks, nodes)
        self.engine.world.move([row], [Status.ALLOCATED if choice.is_idle else Status.PIPELINED], [choice.node])

    def _put_back(self, rows: list[int]) -> None:
        world = self.engine.world
        for row in reversed(rows):
            fact = world.tasks.facts[row]
            status = Status.GATED if fact is not None and fact.gates else Status.PENDING
            self._session.claims.give_back([row])
            world.move([row], [status], [-1])

    def _clauses(self, task: Task) -> tuple[ClauseCount, ...]:
        """Every requirement of a task, alone and with all before it."""
        world = self.engine.world
        present: NDArray[np.bool_] = world.columns.traits.node_present[: len(world.nodes)]
        together = present.copy()
        counts = []
        for clause in [*self._asked(task), *self._claimed(task)]:
            passes = clause.passes & present
            together &= passes
            counts.append(ClauseCount(clause.text, int(passes.sum()), int(together.sum())))
        return tuple(counts)

    def _asked(self, task: Task) -> list[Clause]:
        return [clause for plugin in self.engine.tiers.plugins for clause in plugin.clauses(task)]

    def _claimed(self, task: Task) -> list[Clause]:
        claims, of = self._session.claims, self.engine.world.columns.ledger.task_shape
        return [
            Clause(f"{kind} claim {', '.join(claim.name for claim in wanted)}", self._serving(task.row, kind, wanted))
            for kind, wanted in claims.of(int(of[task.row])).items()
        ]

    def _serving(self, task: int, kind: str, wanted: Wanted) -> NDArray[np.bool_]:
        """The nodes that serve a task's claims of one kind."""
        passes = np.ones(len(self.engine.world.nodes), np.bool_)
        for objection in self._session.claims.objections_to(kind, task, wanted):
            passes &= ~objection.nodes
        return passes
