"""The plugin base: every question the scheduler asks, with the answer of someone who has no opinion.

A plugin is a class; overriding a method registers it for that extension point, and nothing else does. What several
plugins' answers make together is said in `tiers`. An instance lives as long as its configuration; whatever it keeps
from cycle to cycle is its `state`, one object that is copied when a world is forked and put back when a statement is
undone. Everything else it knows, it reads from the world, where it is always up to date.

Orders are keys: smaller goes first. Filters and scores come in two forms: `node_filter` and `node_score` speak of one
task and one node, in plain Python; `filters` and `scores` speak of a shape and all nodes at once (see
`placement.terms`). Write whichever is natural.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.facts import Amounts
from posse.cluster.verdict import Blocker
from posse.cluster.views import Division, Gang, Node, Queue, Task
from posse.cluster.world import World
from posse.scheduler.arguments import Argument, Arguments
from posse.scheduler.metrics.series import Series
from posse.scheduler.metrics.tally import Tally
from posse.scheduler.placement.terms import Clause, Filter, Score
from posse.scheduler.reasons import Reasons
from posse.scheduler.switches import Compatibility

if TYPE_CHECKING:
    from posse.scheduler.session import Session

Rows = NDArray[np.intp]
"""Rows of gangs."""

Key = Any
"""Anything that sorts: a number, or a tuple of such."""


class Vote(IntEnum):
    """An answer that may leave the question to others."""

    REJECT = -1
    ABSTAIN = 0
    PERMIT = 1


class Opinion(Struct, frozen=True):
    """A vote, and what blocks if it is a rejection."""

    vote: Vote
    blocker: Blocker | None = None


PERMIT = Opinion(Vote.PERMIT)
ABSTAIN = Opinion(Vote.ABSTAIN)


class Standing(Struct, frozen=True):
    """What a queue is entitled to, and how much of that it uses (1.0: all)."""

    deserved: Amounts
    share: float


class Shortfalls(Struct, frozen=True):
    """How many more tasks each of many gangs needs to be ready."""

    least: NDArray[np.int64]
    """Fewer are never enough."""
    suffice: NDArray[np.bool_]
    """Whether so many are always enough, whichever they are."""


class Setup(Struct, frozen=True):
    """What a plugin is built from."""

    world: World
    arguments: Arguments
    compatibility: Compatibility
    reasons: Reasons
    uses_hierarchy: bool = False


FORMS_FOR_MANY = (
    ("gang_order", "gang_orders"),
    ("task_order", "task_orders"),
    ("gang_ready", "shortfalls"),
    ("gang_ready", "missing"),
    ("gang_enqueueable", "gangs_enqueueable"),
    ("gang_enqueueable", "all_enqueueable"),
    ("gang_enqueued", "gangs_enqueued"),
    ("queue_allocatable", "queue_room"),
)
"""Extension points, and the methods that answer them for many subjects at once."""

ANYTHING = frozenset({"node", "shape", "task", "siblings", "pods", "queue", "time"})
"""Everything that an answer may depend on."""

THE_WORLD = ANYTHING - {"time"}
"""What stays as it is where nothing moves."""

KEPT = frozenset({"node", "shape"})
"""What answers may depend on that are asked for once."""


class Plugin:
    """A set of answers. Subclass it, set `name`, and override what you have an opinion on."""

    name: ClassVar[str] = ""
    arguments: ClassVar[tuple[Argument, ...]] = ()
    depends_on: ClassVar[frozenset[str]] = ANYTHING
    """What answers look at.

    Those of `node_filter` and `node_score` that depend on no more than "node" (what a node is, not what is on it) and
    "shape" (what a task asks for) are asked for once and kept, and do not keep the kernel from filling. Plugins of
    which none depends on "time" (anything but the world and what is told in it) need not be asked where nothing moves.
    """
    queue_order_is_own: bool = False
    """Whether a queue's key depends on that queue alone, so that it does not move while others have their turn."""
    gang_order_is_own: bool = False
    """Whether a gang's key depends on that gang alone."""

    protects: ClassVar[bool] = False
    """Whether it says who must stay when victims are sought, rather than who should go (see `victims`)."""

    def __init__(self, setup: Setup) -> None:
        self.world = setup.world
        self.reasons = setup.reasons
        self.warnings: tuple[str, ...] = ()
        self.state: Any = None

    # ------------------------------------------------------------------ the cycle

    def on_open(self, session: "Session") -> None:
        """Begin a cycle."""

    def on_close(self, session: "Session") -> None:
        """End a cycle."""

    def wake_at(self) -> int | None:
        """Give the time at which this plugin may answer differently though nothing else has changed; None: never."""

    def on_allocate(self, tasks: NDArray[np.int32]) -> None:
        """Learn that these tasks got a node (for good or as a promise)."""
        for row in tasks.tolist():
            self.task_allocated(Task(self.world, row))

    def on_deallocate(self, tasks: NDArray[np.int32]) -> None:
        """Learn that these tasks are about to lose their node."""
        for row in tasks.tolist():
            self.task_deallocated(Task(self.world, row))

    def task_allocated(self, task: Task) -> None:
        """Learn the same of one task."""

    def task_deallocated(self, task: Task) -> None:
        """Learn the same of one task."""

    # ------------------------------------------------------------------ orders

    def queue_order(self, queue: Queue) -> Key:
        """Say where a queue goes among the queues."""

    def gang_order(self, gang: Gang) -> Key:
        """Say where a gang goes among the gangs of its queue."""

    def gang_orders(self, gangs: Rows) -> Sequence[Key] | NDArray[np.generic]:
        """Say the same for many gangs at once."""
        return [self.gang_order(Gang(self.world, row)) for row in gangs.tolist()]

    def subgang_order(self, division: Division) -> Key:
        """Say where a sub-gang goes among those of its gang."""

    def task_order(self, task: Task) -> Key:
        """Say where a task goes among the tasks of its gang."""

    def task_orders(self, tasks: NDArray[np.int32]) -> Sequence[Key] | NDArray[np.int64]:
        """Say the same for many tasks at once."""
        return [self.task_order(Task(self.world, row)) for row in tasks.tolist()]

    # ------------------------------------------------------------------ gangs and queues

    def gang_valid(self, gang: Gang) -> Blocker | None:
        """Refuse a gang that cannot be placed whatever the room."""

    def gang_ready(self, gang: Gang) -> bool:
        """Say whether a gang may be bound as it stands."""
        return True

    def subgang_ready(self, division: Division) -> bool:
        """Say whether a sub-gang has what it takes."""
        return True

    def missing(self, gang: Gang) -> int:
        """Say how many more tasks `gang_ready` wants at the least; a hint that spares asking after each one."""
        return 1

    def shortfalls(self, gangs: Rows) -> Shortfalls | None:
        """Say of many gangs how many more tasks each needs to be ready; None: nothing is known of any."""

    def gang_pipelined(self, gang: Gang) -> Vote:
        """Say whether a gang would be ready once what it is promised is free."""
        return Vote.ABSTAIN

    def subgang_pipelined(self, division: Division) -> Vote:
        """Say whether a sub-gang would be ready once what it is promised is free."""
        return Vote.ABSTAIN

    def gang_starving(self, gang: Gang) -> bool:
        """Say whether a gang deserves room that others have."""
        return False

    def gang_enqueueable(self, gang: Gang) -> Opinion:
        """Say whether a gang may be admitted to its queue."""
        return ABSTAIN

    def gang_enqueued(self, gang: Gang) -> None:
        """Learn that a gang was admitted."""

    def gangs_enqueueable(self, gangs: Rows) -> NDArray[np.bool_] | None:
        """Say of many gangs whether each would be admitted now, alone; who would not must not be so after others were.

        None: ask singly.
        """

    def all_enqueueable(self, gangs: Rows) -> bool:
        """Say whether many gangs would be admitted one after the other, whatever their order."""
        return False

    def gangs_enqueued(self, gangs: Rows) -> None:
        """Learn that many gangs were admitted."""
        for row in gangs.tolist():
            self.gang_enqueued(Gang(self.world, row))

    def queue_overused(self, queue: Queue) -> Blocker | None:
        """Refuse a queue all further room."""

    def queue_allocatable(self, queue: Queue, task: Task) -> Blocker | None:
        """Refuse a task its queue's room."""

    def queue_room(self, queue: Queue) -> NDArray[np.int64] | None:
        """Give what `queue_allocatable` allows as amounts per dimension that may still be asked for;

        None if it cannot be said so.
        """
        return None

    def queue_standing(self, queue: Queue) -> Standing | None:
        """Give what a queue is entitled to, for reports; None if this plugin divides nothing."""

    # ------------------------------------------------------------------ victims

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Name those among the candidates (of the same queue) that may go for a task; None: no opinion."""

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Name those among the candidates (of other queues) that may go for a task; None: no opinion."""

    def evictable(self, for_gang: Gang, candidates: Sequence[Task], *, across_queues: bool) -> Sequence[Task] | None:
        """Name those among the candidates that may go for a whole gang; None: no opinion."""

    # ------------------------------------------------------------------ nodes

    def node_filter(self, task: Task, node: Node) -> str | None:
        """Refuse a node to a task, with a reason."""

    def node_score(self, task: Task, node: Node) -> float:
        """Give a node points for a task."""
        return 0.0

    def filters(self, shape: int) -> Sequence[Filter]:
        """Refuse nodes to a shape, all at once."""
        return ()

    def scores(self, shape: int) -> Sequence[Score]:
        """Give nodes points for a shape, all at once."""
        return ()

    def clauses(self, task: Task) -> Sequence[Clause]:
        """List the requirements that a task has of nodes, each by itself, for explanations."""
        return ()

    # ------------------------------------------------------------------ figures

    def figures(self, tally: Tally) -> Iterable[Series]:
        """Give the metrics that are about what this plugin does, as they stand."""
        return ()

    def __init_subclass__(cls) -> None:
        """Let a form for many give way where only the form for one is written anew: the two must never differ."""
        super().__init_subclass__()
        own = vars(cls)
        for one, many in FORMS_FOR_MANY:
            if one in own and many not in own and getattr(cls, many) is not getattr(Plugin, many):
                setattr(cls, many, getattr(Plugin, many))

    @classmethod
    def overrides(cls, point: str) -> bool:
        """Whether this plugin has an opinion at an extension point."""
        return getattr(cls, point) is not getattr(Plugin, point)


NOT_ASKED_IN_TURN = {
    "all_enqueueable",
    "figures",
    "gang_orders",
    "gangs_enqueueable",
    "gangs_enqueued",
    "missing",
    "overrides",
    "queue_room",
    "queue_standing",
    "shortfalls",
    "task_orders",
    "wake_at",
}
"""Methods that go with an extension point, or tell of the plugin, and are none themselves."""

EXTENSION_POINTS = tuple(
    name
    for name, value in vars(Plugin).items()
    if callable(value) and not name.startswith("_") and name not in NOT_ASKED_IN_TURN
)
"""The names of all extension points, in the order in which they stand above."""
