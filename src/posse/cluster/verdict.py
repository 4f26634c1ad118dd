"""Verdicts: what a cycle found about a gang, in codes and counts.

A verdict is a by-product of deciding, not a second computation: refusals are recorded as codes while nodes are
filtered, and counted when the cycle closes. What an API object or a person is told is made from this one record:
statuses by the gang's dialect, explanations by `whatif`. Verdicts are values of the model, so that whoever renders them
need not know the scheduler.
"""

from typing import Literal

from msgspec import Struct

from posse.cluster.facts import Amounts

BlockerKind = Literal[
    "validity",
    "gates",
    "admission",
    "queue",
    "nodes",
    "topology",
    "siblings",
    "victims",
    "quota",
    "timeout",
    "volumes",
    "plugin",
]

GangState = Literal["running", "placed", "pipelined", "held", "waiting", "invalid", "gated", "timed-out", "finished"]


class Blocker(Struct, frozen=True, gc=False, kw_only=True):
    """One thing that keeps a gang from starting: which rule, in words, and as numbers where it is about numbers.

    `reason` is a stable word for machines (a Volcano condition's reason where Volcano has one). `nodes` counts nodes by
    their first refusal. `nodes_help`: more or freer nodes would take this blocker away.
    """

    kind: BlockerKind
    plugin: str
    message: str
    reason: str = ""
    have: int | None = None
    need: int | None = None
    unit: str = ""
    nodes: tuple[tuple[str, int], ...] = ()
    nodes_help: bool = False
    task: str = ""


class PodVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """What a waiting pod is told: the reason and message of its PodScheduled condition, and the node its status names.

    `promised` is the node that it waits for to be free, whether or not its status is to say so.
    """

    pod: str
    uid: str
    reason: str
    message: str
    nominated: str = ""
    promised: str = ""


class Verdict(Struct, frozen=True, gc=False, kw_only=True, tag="verdict"):
    """How a gang stood when the cycle closed.

    `was_ready`: its minimum had nodes, promised ones not counted. `message` is what a condition would say of it.
    `unschedulable` is how many members short of the minimum it was, by what could be placed.
    """

    gang: str
    uid: str
    cycle: int
    state: GangState
    phase: str
    minimum: int
    members: int
    ready: int
    running: int
    pending: int
    succeeded: int
    failed: int
    was_ready: bool
    unschedulable: int = 0
    message: str = ""
    blockers: tuple[Blocker, ...] = ()
    pods: tuple[PodVerdict, ...] = ()


class QueueVerdict(Struct, frozen=True, gc=False, kw_only=True, tag="queue-verdict"):
    """How a queue stood when the cycle closed. What no plugin divides has no deserved amounts and no share."""

    queue: str
    allocated: Amounts
    deserved: Amounts = ()
    share: float | None = None
