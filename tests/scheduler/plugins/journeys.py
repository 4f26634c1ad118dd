"""Journeys: what may happen to a cluster between two questions, made up from random numbers."""

from random import Random

import numpy as np
from msgspec import structs

from posse.cluster.facts import Gone, NamespaceFact, Taint, TaskFact
from posse.scheduler.statement import Statement
from tests.worlds.random_shapes import APPS, random_shape
from tests.worlds.traits import EVERYTHING

from .mirror import Mirror

TEAM, SPOT = (Taint("team", "a"),), (Taint("spot", "true", "PreferNoSchedule"),)


class Journey:
    """A mirror, and steps that change it. Statements stay open until they are rolled back or forgotten."""

    def __init__(self, mirror: Mirror, random: Random) -> None:
        self.mirror, self.random = mirror, random
        self.statement: Statement | None = None
        self.gone: list[TaskFact] = []

    def step(self) -> None:
        """One thing that happens."""
        often = (self.place, self.place, self.undo)
        seldom = (self.evict, self.change_node, self.lose_node, self.come, self.go, self.rename)
        self.random.choice((*often, *seldom))()
        self.mirror.settle()

    def _nodes(self) -> list[str]:
        return sorted(self.mirror.cluster.nodes)

    def place(self) -> None:
        waiting, nodes = self.mirror.waiting(), self._nodes()
        if not waiting or not nodes:
            return
        rows = self.random.sample(waiting, min(len(waiting), 3))
        where = [self.mirror.world.nodes.find(self.random.choice(nodes)) for _ in rows]
        self.statement = self.statement or self.mirror.statement()
        put = self.random.choice((self.statement.allocate, self.statement.pipeline))
        put(np.array(rows, np.int32), np.array(where, np.int32))

    def evict(self) -> None:
        world = self.mirror.world
        runs = [row for row in world.tasks.declared() if world.columns.ledger.task_node[row] >= 0]
        if runs:
            self.statement = self.statement or self.mirror.statement()
            self.statement.evict(np.array([self.random.choice(runs)], np.int32))

    def undo(self) -> None:
        if self.statement is not None:
            self.statement.rollback(self.random.choice((0, len(self.statement) // 2)))

    def change_node(self) -> None:
        if not self._nodes():
            return
        fact = self.mirror.cluster.nodes[self.random.choice(self._nodes())]
        labels = {**fact.labels, "topology.kubernetes.io/zone": self.random.choice(("zone-a", "zone-new"))}
        if self.random.random() < 0.3:
            labels.pop("disk", None)
        taints = self.random.choice((fact.taints, (), TEAM, SPOT))
        cordoned = self.random.random() < 0.2
        self.mirror.observe(structs.replace(fact, labels=labels, taints=taints, unschedulable=cordoned))

    def lose_node(self) -> None:
        if len(self._nodes()) > 1:
            self.statement = None
            self.mirror.observe(Gone(kind="node", key=self.random.choice(self._nodes())))

    def come(self) -> None:
        self.statement = None
        shape, nodes = random_shape(self.random, EVERYTHING), self._nodes()
        name, node = f"new-{self.random.randrange(10**9)}", self.random.choice([*nodes, "", "", "node-unheard-of"])
        labels = {"app": self.random.choice(APPS), **({"tier": "gold"} if self.random.random() < 0.2 else {})}
        namespace = self.random.choice(("default", "batch", "lost", "new"))
        self.mirror.observe(
            TaskFact(
                namespace=namespace,
                name=name,
                uid=name,
                shape=shape,
                labels=labels,
                node=node,
                phase="Running" if node else "Pending",
                terminating=bool(node) and self.random.random() < 0.2,
            )
        )

    def go(self) -> None:
        self.statement = None
        keys = sorted(self.mirror.cluster.tasks)
        if keys:
            self.mirror.observe(Gone(kind="task", key=self.random.choice(keys)))

    def rename(self) -> None:
        name = self.random.choice(("default", "batch", "new"))
        if self.random.random() < 0.3:
            self.mirror.observe(Gone(kind="namespace", key=name))
        else:
            self.mirror.observe(NamespaceFact(name=name, labels={"team": self.random.choice("abc")}))
