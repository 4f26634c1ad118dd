"""Readings: all series of an engine at one moment.

Plugins give the figures that are about what they do (see `Plugin.figures`), so a configuration without a plugin is
without its figures. What is true of any configuration is given here: how many gangs of a queue are in which phase, how
many wait for what, what was decided.

A gang may wait for several things at once; it is counted once, under the first of `REASONS` that applies.
"""

from collections import Counter
from collections.abc import Iterator

from posse.cluster.phases import GangPhase
from posse.cluster.verdict import GangState, Verdict
from posse.scheduler.engine import Engine
from posse.scheduler.metrics.series import Series, as_record, series
from posse.scheduler.metrics.tally import Tally

REASONS = (
    "validity",
    "gates",
    "timeout",
    "admission",
    "quota",
    "queue",
    "siblings",
    "volumes",
    "topology",
    "victims",
    "plugin",
    "nodes",
)
"""What a gang waits for, first what its owner must see to, then what its queue withholds, last what the nodes lack."""

PROMISED = "promised"
"""The reason of gangs whose room is being freed."""
UNTOLD = "unknown"

WAITING: frozenset[GangState] = frozenset({"waiting", "invalid", "gated", "pipelined", "held", "timed-out"})


def readings(engine: Engine, tally: Tally) -> dict[str, float]:
    """All figures by name and labels."""
    return as_record(_all(engine, tally))


def reason_of(verdict: Verdict) -> str:
    """What a waiting gang waits for, in a word."""
    if verdict.state in ("pipelined", "held"):
        return PROMISED
    if verdict.state == "timed-out":
        return "timeout"
    kinds = {blocker.kind for blocker in verdict.blockers}
    return next((reason for reason in REASONS if reason in kinds), UNTOLD)


def _all(engine: Engine, tally: Tally) -> Iterator[Series]:
    for plugin in engine.tiers.plugins:
        yield from plugin.figures(tally)
    yield from _phases(engine)
    yield from _waiting(engine, tally)
    yield from _decided(tally)
    yield series("posse_promised_pods", len(engine.promises()))


def _phases(engine: Engine) -> Iterator[Series]:
    """How many gangs of each queue are in each phase."""
    world = engine.world
    ledger, traits = world.columns.ledger, world.columns.traits
    counts = Counter((int(ledger.gang_queue[row]), int(traits.gang_phase[row])) for row in world.gangs.declared())
    for queue in world.queues.declared():
        for phase in GangPhase:
            name = f"volcano_queue_pod_group_{phase.name.lower()}_count"
            yield series(name, counts[queue, phase], queue_name=world.queues.keys[queue])


def _waiting(engine: Engine, tally: Tally) -> Iterator[Series]:
    """How many gangs of each queue wait for what."""
    waiting = [each for each in tally.gangs(engine.world) if each.verdict.state in WAITING]
    for (queue, reason), count in Counter((each.gang.queue, reason_of(each.verdict)) for each in waiting).items():
        yield series("posse_waiting_gangs", count, queue_name=queue, reason=reason)


def _decided(tally: Tally) -> Iterator[Series]:
    """What was decided. A pod counts as unschedulable once for each time that it begins to wait."""
    yield series("posse_cycles_total", tally.cycles)
    yield series("posse_binds_total", tally.binds)
    yield series("volcano_schedule_attempts_total", tally.binds, result="scheduled")
    yield series("volcano_schedule_attempts_total", tally.refusals, result="unschedulable")
    for action, count in tally.evictions.items():
        yield series("posse_evictions_total", count, action=action)
