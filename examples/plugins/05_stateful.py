"""A plugin with state: racks have a power budget, and no gang may break it.

What a pod draws is its annotation `example.com/watts`, a node's rack is its label `example.com/rack`. When a cycle
opens, the plugin adds up what runs; while the cycle decides, it is told of every pod that gets a node or loses it.
All of this lies in `self.state`, one plain object. So when a gang turns out not to fit and is taken back, the
scheduler puts back the state of before as well, and a simulation that asks "what if" works on a copy. A plugin that
keeps its memory there needs no code for undoing.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import OCCUPYING_STATES
from posse.cluster.views import Node, Task
from posse.scheduler.arguments import Argument
from posse.scheduler.plugin import Plugin, Setup
from posse.scheduler.session import Session

WATTS, RACK = "example.com/watts", "example.com/rack"


class RackPowerPlugin(Plugin):
    """Keep every rack within its power budget."""

    name = "rack-power"
    arguments = (Argument("rack-power.watts", "int", 10_000, minimum=0, help="What a rack may draw."),)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._budget = setup.arguments.get_int("rack-power.watts")
        self.state: Counter[str] = Counter()

    def on_open(self, session: Session) -> None:
        self.state = Counter()
        for row in self.world.tasks.declared():
            if Task(self.world, row).status in OCCUPYING_STATES:
                self._add(row, 1)

    def on_allocate(self, tasks: NDArray[np.int32]) -> None:
        for row in tasks.tolist():
            self._add(row, 1)

    def on_deallocate(self, tasks: NDArray[np.int32]) -> None:
        for row in tasks.tolist():
            self._add(row, -1)

    def node_filter(self, task: Task, node: Node) -> str | None:
        rack = node.fact.labels.get(RACK, "")
        if not rack or self.state[rack] + _watts(task) <= self._budget:
            return None
        return f"rack {rack} has no power left"

    def _add(self, row: int, sign: int) -> None:
        task = Task(self.world, row)
        fact = self.world.nodes.facts[task.node]
        if fact is not None and RACK in fact.labels:
            self.state[fact.labels[RACK]] += sign * _watts(task)


def _watts(task: Task) -> int:
    text = task.fact.annotations.get(WATTS, "0")
    return int(text) if text.isdecimal() else 0
