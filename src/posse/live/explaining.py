"""Explaining a gang of a running scheduler, from what its last cycles found. Nothing is tried.

The record is that of `posse explain -o json`, with the blockers and the place in line, and without remedies: those are
proven on copies of the world, which takes longer than a scheduler may stand still. `searched` says so.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from posse.cluster.verdict import GangState, Verdict
from posse.cluster.views import Gang
from posse.dialects import plain
from posse.scheduler.engine import Engine
from posse.scheduler.metrics.tally import Tally
from posse.whatif import line, summary
from posse.whatif.explanation import Explanation
from posse.whatif.obstacles import obstacles
from posse.whatif.probe import Finding

STARTED: tuple[GangState, ...] = ("running", "placed", "finished")


def explained(engine: Engine, tally: Tally, name: str) -> Mapping[str, Any] | None:
    """Explain a gang, or the pod that is one by itself, by its namespace and name; nothing if there is none."""
    namespace, _, bare = name.partition("/")
    gangs = engine.world.gangs
    key = name if gangs.find(name) >= 0 else plain.key_of(namespace, bare)
    row = gangs.find(key)
    if row < 0:
        return None
    gang = Gang(engine.world, row)
    verdict = next((each.verdict for each in tally.gangs(engine.world) if each.gang.key == key), None)
    cycle = verdict.cycle if verdict is not None else None
    return {"gang": key, "cycle": cycle, **msgspec.to_builtins(_explanation(engine, gang, verdict))}


def _explanation(engine: Engine, gang: Gang, verdict: Verdict | None) -> Explanation:
    in_line = line.in_line(engine.tiers, line.waiting(engine))
    if all(each.row != gang.row for each in in_line):
        state = _state_of_started(gang, verdict)
        return Explanation(state=state, summary=summary.of_started(state, gang))
    blockers = obstacles(gang, engine.tiers, verdict, Finding())
    found = verdict.state if verdict is not None and verdict.state not in STARTED else "waiting"
    return Explanation(
        state=found,
        summary=f"waits: {blockers[0].message}",
        blockers=blockers,
        searched="cut",
        position=line.positions(in_line).get(gang.row),
    )


def _state_of_started(gang: Gang, verdict: Verdict | None) -> GangState:
    if line.is_over(gang):
        return "finished"
    return verdict.state if verdict is not None and verdict.state in STARTED else "placed"
