"""Licenses: software that may run so many times at once in the whole cluster.

A pod that carries the annotation `example.com/license` needs one license of that name as long as it has a node. How
many there are, the configuration says (`licenses.cad: 4`). A pod without a free license does not get its queue's
room; what its gang had taken until then is given back with the gang.

Tokens in use are the plugin's state: counted when a cycle opens, followed while it decides. The scheduler keeps a
copy of the state from before each step and puts it back when it undoes the step.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import OCCUPYING_STATES, PROMISED_STATES
from posse.cluster.verdict import Blocker
from posse.cluster.views import Queue, Task
from posse.scheduler.arguments import Argument
from posse.scheduler.plugin import Plugin, Setup
from posse.scheduler.session import Session

ANNOTATION = "example.com/license"
EACH = "licenses.<name>"
IN_USE = frozenset({*OCCUPYING_STATES, *PROMISED_STATES})


class LicensesPlugin(Plugin):
    """Let no more pods use a license than there are licenses."""

    name = "licenses"
    arguments = (Argument(EACH, "int", minimum=0, help="How many licenses of this name there are; 0 if not given."),)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._owned = setup.arguments.get_ints(EACH)
        self.state: Counter[str] = Counter()

    def on_open(self, session: Session) -> None:
        """Count the licenses in use."""
        tasks = (Task(session.world, row) for row in session.world.tasks.declared())
        self.state = Counter(_license(task) for task in tasks if task.status in IN_USE)

    def on_allocate(self, tasks: NDArray[np.int32]) -> None:
        """Take a license for each."""
        self.state.update(_license(Task(self.world, row)) for row in tasks.tolist())

    def on_deallocate(self, tasks: NDArray[np.int32]) -> None:
        """Give one back for each."""
        self.state.subtract(_license(Task(self.world, row)) for row in tasks.tolist())

    def queue_allocatable(self, queue: Queue, task: Task) -> Blocker | None:
        """Refuse a pod for which no license is free."""
        license_name = _license(task)
        owned, in_use = self._owned.get(license_name, 0), self.state[license_name]
        if not license_name or in_use < owned:
            return None
        message = f"{in_use} of {owned} licenses {license_name} are in use"
        return Blocker(kind="plugin", plugin=self.name, message=message, have=owned - in_use, need=1, unit="licenses")


def _license(task: Task) -> str:
    """The license that a pod needs, empty for none."""
    return task.fact.annotations.get(ANNOTATION, "")
