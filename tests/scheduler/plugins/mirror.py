"""One cluster twice: as the engine keeps it, and as the reference does, told and moved alike.

What the plugins say of all nodes at once can so be held against the plain rules, node by node, while pods come and
go.
"""

from types import SimpleNamespace

import numpy as np
from msgspec import structs

from posse.cluster.facts import Fact, Gone, NamespaceFact, NodeFact, TaskFact
from posse.cluster.status import Status
from posse.scheduler.statement import Statement
from tests.builders import engine
from tests.reference.cluster import Cluster, observed_status
from tests.reference.filters import refusal
from tests.reference.scores import Scorer, total_scores

STANDING = {Status.ALLOCATED: "allocated", Status.PIPELINED: "pipelined", Status.RELEASING: "releasing"}


class Mirror:
    """An engine and a reference cluster that know the same."""

    def __init__(self, conf_text: str, facts: list[Fact]) -> None:
        self.engine = engine(conf_text, *facts)
        self.world = self.engine.world
        self.cluster = Cluster.of(facts)
        self.choose = self.engine._chooser

    # ------------------------------------------------------------------ what happens

    def statement(self) -> Statement:
        return Statement(SimpleNamespace(world=self.world, tiers=self.engine.tiers, claims=self.engine.claims))

    def settle(self) -> None:
        """Let the reference put its tasks where the world has them."""
        ledger = self.world.columns.ledger
        for row in self.world.tasks.declared():
            status, node, fact = Status(ledger.task_status[row]), int(ledger.task_node[row]), self.fact(row)
            seen = observed_status(fact)
            if status in STANDING and STANDING[status] != seen:
                fact = structs.replace(fact, terminating=fact.terminating or status is Status.RELEASING)
                self.cluster.put(fact, STANDING[status], self.world.nodes.keys[node])
            else:
                self.cluster.put(fact, seen, fact.node)

    def observe(self, *facts: Fact | Gone) -> None:
        self.world.observe(facts)
        for fact in facts:
            match fact:
                case NodeFact():
                    self.cluster.nodes[fact.name] = fact
                case NamespaceFact():
                    self.cluster.namespaces[fact.name] = fact
                case TaskFact():
                    self.cluster.tasks[fact.key] = fact
                case Gone(kind="node", key=key):
                    self.cluster.nodes.pop(key, None)
                case Gone(kind="namespace", key=key):
                    self.cluster.namespaces.pop(key, None)
                case Gone(kind="task", key=key):
                    self.cluster.put(self.cluster.tasks.pop(key), "pending")
        self.settle()

    # ------------------------------------------------------------------ what is asked

    def waiting(self) -> list[int]:
        """The rows of tasks without a node."""
        ledger = self.world.columns.ledger
        return [row for row in self.world.tasks.declared() if ledger.task_status[row] == Status.PENDING]

    def fact(self, row: int) -> TaskFact:
        fact = self.world.tasks.facts[row]
        assert fact is not None
        return fact

    def nodes(self, rows: np.ndarray) -> list[NodeFact]:
        return [self.cluster.nodes[self.world.nodes.keys[row]] for row in rows.tolist()]

    def refusals(self, row: int) -> dict[str, str]:
        """Why each node refuses a task, by the engine; nodes that take it are left out."""
        reasons = [self.engine.reasons.texts[code] for code in self.choose.feasibility.codes(row).tolist()]
        named = zip(self.world.nodes.keys, reasons, strict=True)
        return {name: reason for name, reason in named if reason and name in self.cluster.nodes}

    def reference_refusals(self, row: int) -> dict[str, str]:
        found = {name: refusal(self.cluster, self.fact(row), node) for name, node in self.cluster.nodes.items()}
        return {name: reason for name, reason in found.items() if reason is not None}

    def points(self, row: int, candidates: np.ndarray) -> dict[str, float]:
        points = self.choose.scoring.points(row, candidates)
        return {self.world.nodes.keys[n]: p for n, p in zip(candidates.tolist(), points.tolist(), strict=True)}

    def reference_points(self, row: int, candidates: np.ndarray, *scorers: Scorer) -> dict[str, float]:
        return total_scores(self.cluster, self.fact(row), self.nodes(candidates), scorers)
