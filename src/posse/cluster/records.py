"""What goes into a cycle and what comes out: small typed records that can be written down and read back.

Observations (facts of the model) and outcomes go in; binds, evictions and verdicts come out. The simulator, the live
scheduler and a replayed recording use the same records, and nothing else passes between the engine and the outside.
"""

from msgspec import Struct

from posse.cluster.facts import Observation
from posse.cluster.verdict import QueueVerdict, Verdict


class Bound(Struct, frozen=True, gc=False, tag="bound"):
    """The API took a bind."""

    pod: str
    uid: str
    node: str


class Refused(Struct, frozen=True, gc=False, tag="refused"):
    """A bind was refused: the pod has no node. `tried`: the API was asked; else it was we who did not."""

    pod: str
    uid: str
    reason: str = ""
    tried: bool = True


class TimedOut(Struct, frozen=True, gc=False, tag="timed-out"):
    """No answer came in time: the pod is taken to have no node until an observation says otherwise."""

    pod: str
    uid: str
    reason: str = ""


class Kept(Struct, frozen=True, gc=False, tag="kept"):
    """The API refused an eviction: the pod stays where it is."""

    pod: str
    uid: str
    reason: str = ""


Outcome = Bound | Refused | TimedOut | Kept


class CycleInput(Struct, frozen=True, gc=False):
    """Everything a cycle decides from, besides the world it stands on: the clock, what was seen, and what came of
    earlier effects.
    """

    now: int
    observations: tuple[Observation, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


class Payload(Struct, frozen=True, gc=False):
    """What must be done for a claim before or with the bind; `kind` says whose book knows how to read it."""

    kind: str
    name: str
    data: str = ""


class Bind(Struct, frozen=True, gc=False, tag="bind"):
    """Bind this pod to this node, after carrying out its claims' payloads."""

    pod: str
    uid: str
    node: str
    gang: str
    payloads: tuple[Payload, ...] = ()


class Evict(Struct, frozen=True, gc=False, tag="evict"):
    """Evict this pod, for the sake of gang `by`."""

    pod: str
    uid: str
    node: str
    by: str
    action: str
    reason: str = ""


Effect = Bind | Evict


class CycleResult(Struct, frozen=True, gc=False):
    """What a cycle decided: effects in the order of decision, a verdict on every gang that moved, failed or changed,
    and all queues.
    """

    cycle: int
    effects: tuple[Effect, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    queues: tuple[QueueVerdict, ...] = ()
