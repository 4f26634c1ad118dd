"""Obstacles: what keeps a gang from starting, from the last verdict on it and from how it stands.

A verdict says what a cycle ran into. Some gangs a cycle never gets to: nobody declared them, their queue is not there,
is closed or has all that it deserves. So that whoever waits is told why, these are looked for where the verdict is
silent.
"""

from collections.abc import Iterable

from posse.cluster.status import Status
from posse.cluster.verdict import Blocker, Verdict
from posse.cluster.views import Gang
from posse.scheduler.tiers import Tiers
from posse.whatif import amounts
from posse.whatif.explanation import Obstacle, Remedy
from posse.whatif.probe import Finding, Refused


def obstacles(
    gang: Gang, tiers: Tiers, verdict: Verdict | None, finding: Finding, aim: int | None = None
) -> tuple[Obstacle, ...]:
    """Everything known that keeps a gang from starting, or one that has started from getting more; at least one.

    `aim` is how many of its members are to have a node, if not its minimum.
    """
    told = list(verdict.blockers) if verdict is not None and gang.is_declared and gang.queue.is_declared else []
    found = told or list(_unsaid(gang, tiers, finding))
    if finding.refused and not any(blocker.kind == "nodes" for blocker in found):
        found.append(_of_nodes(gang, finding.refused[0]))
    return tuple(_as_told(blocker, gang, finding, aim) for blocker in found)


def by_proof(blockers: tuple[Obstacle, ...], remedies: Iterable[Remedy]) -> tuple[Obstacle, ...]:
    """Blockers, the one to be named first in front.

    Where nodes refuse members, a queue's figures are not what it takes first, unless raising them was proven to do.
    """
    if any(remedy.action == "raise-quota" for remedy in remedies):
        return blockers
    behind = [each for each in blockers if each.kind in ("admission", "queue")]
    nodes = [each for each in blockers if each.kind == "nodes"]
    others = [each for each in blockers if each not in (*behind, *nodes)]
    return (*others, *nodes, *behind) if nodes else blockers


def _as_told(blocker: Blocker, gang: Gang, finding: Finding, aim: int | None) -> Obstacle:
    nodes = blocker.kind == "nodes" and bool(blocker.nodes or finding.refused)  # and none that was only promised
    has = gang.ready_count + gang.waiting_count + len(finding.placed)
    clauses = next((each.clauses for each in finding.refused if not blocker.task or each.task == blocker.task), ())
    if nodes and not clauses and finding.refused:
        clauses = finding.refused[0].clauses
    return Obstacle(
        kind=blocker.kind,
        plugin=blocker.plugin,
        message=blocker.message,
        have=has if nodes else _figure(gang, blocker.unit, blocker.have),
        need=(gang.minimum if aim is None else aim) if nodes else _figure(gang, blocker.unit, blocker.need),
        unit=blocker.unit,
        nodes=dict(blocker.nodes),
        clauses=clauses if nodes else (),
    )


def _figure(gang: Gang, unit: str, amount: int | None) -> int | float | None:
    """An amount in units of a resource; everything else is counted in whole things anyway."""
    is_resource = gang.world.dimensions.known(unit) is not None
    return amounts.number(unit, amount) if is_resource and amount is not None else amount


def _unsaid(gang: Gang, tiers: Tiers, finding: Finding) -> Iterable[Blocker]:
    """What keeps a gang from starting of which no cycle said anything."""
    size = gang.size
    if not gang.is_declared:
        message = f"{amounts.pods(size, 'names', 'name')} the group {gang.key}, and there is no such group"
        return [
            Blocker(
                kind="validity", plugin="gang", message=message, reason="NoSuchGroup", have=0, need=1, unit="groups"
            )
        ]
    if not gang.queue.is_declared:
        return [_of_queue(f"there is no queue {gang.queue.key}", "NoSuchQueue")]
    invalid = tiers.gang_invalid(gang)
    if invalid is not None:
        return [invalid]
    if gang.fact is not None and gang.queue.fact.state != "Open":
        return [_of_queue(f"queue {gang.queue.key} is {gang.queue.fact.state.lower()}", "QueueClosed")]
    pending = gang.counts[Status.PENDING]
    overused = tiers.queue_overused(gang.queue) if pending else None
    return [overused if overused is not None else _standing(gang, finding)]


def _standing(gang: Gang, finding: Finding) -> Blocker:
    """The last that can be said: where its members stand."""
    counts, have, need = gang.counts, gang.ready_count, gang.minimum
    if not gang.size:
        message = "it has no pods, so nothing is to be placed"
        return Blocker(kind="validity", plugin="gang", message=message, have=0, need=max(1, need), unit="pods")
    if gang.waiting_count and not counts[Status.PENDING]:
        message = f"{amounts.pods(gang.waiting_count, 'has', 'have')} a node promised whose room is still being freed"
        return Blocker(kind="nodes", plugin="allocate", message=message, have=have, need=need, unit="pods")
    if counts[Status.GATED]:
        message = f"{counts[Status.GATED]} of {gang.size} pods wait for a scheduling gate to be lifted"
        return Blocker(
            kind="gates", plugin="gang", message=message, have=gang.size - counts[Status.GATED], need=need, unit="pods"
        )
    if not gang.is_admitted:
        message = f"queue {gang.queue.key} has not admitted it"
        return Blocker(kind="admission", plugin="enqueue", message=message, have=have, need=need, unit="pods")
    if finding.refused:
        return _of_nodes(gang, finding.refused[0])
    message = "the cycles so far did not come to it"
    return Blocker(kind="plugin", plugin="actions", message=message, have=have, need=need, unit="pods")


def _of_nodes(gang: Gang, refused: Refused) -> Blocker:
    """What a probe found about nodes that the cycles did not come to ask."""
    count = sum(number for _, number in refused.nodes)
    reasons = ", ".join(f"{number} {reason}" for reason, number in refused.nodes)
    message = f"0/{count} nodes take {refused.task}: {reasons}" if count else "the cluster has no nodes"
    return Blocker(
        kind="nodes",
        plugin="predicates",
        message=message,
        have=gang.ready_count,
        need=gang.minimum,
        unit="pods",
        nodes=refused.nodes,
        task=refused.task,
    )


def _of_queue(message: str, reason: str) -> Blocker:
    return Blocker(kind="queue", plugin="queues", message=message, reason=reason, have=0, need=1, unit="queues")
