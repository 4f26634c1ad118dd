"""The result of a run, as programs read it: one record of plain values, its parts in a fixed order.

Everything comes from what the run has: its history (binds, evictions, verdicts), the world as it stands, the objects.
The form is a promise to programs; fields may be added, never renamed or given another meaning.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from posse.cluster.facts import GangFact
from posse.cluster.ordering import natural
from posse.cluster.status import OCCUPIES, Status
from posse.cluster.verdict import PodVerdict, Verdict
from posse.cluster.views import Gang
from posse.dialects import volcano, volcano_status
from posse.dialects.unread import unread_minimum
from posse.kube.meta import KubeObject, rfc3339
from posse.kube.objects import PodGroup, PodGroupStatus, Queue
from posse.kube.quantity import format_amounts
from posse.kube.workloads import Workload
from posse.scheduler.closing import NODELESS
from posse.scheduler.metrics.readings import readings
from posse.scheduler.metrics.tally import Tally
from posse.simulation import unclaimed
from posse.simulation.canonical import canonical
from posse.simulation.gang_names import GangNames
from posse.simulation.objects_out import objects_of
from posse.simulation.run import Run

Record = dict[str, Any]
Explain = Callable[[str], Record | None]
"""Gives the explanation of a gang by its key, or none."""


def result_of(run: Run, explain: Explain) -> Record:
    """Everything a run is to report."""
    names = GangNames(run.engine.world)
    statuses, events = _told(run, names)
    waiting = _waiting(run)
    record: Record = {
        "cycles": run.engine.cycles,
        "time": (run.now_at_end - run.start) / 1e9,
        "fixpoint": run.is_settled,
        "binds": {pod: run.history.binds[pod].node for pod in sorted(run.history.binds, key=natural)},
        "pipelined": {pod.pod: pod.promised for pod in waiting if pod.promised},
        "reservations": _reservations(run, names),
        "evictions": _evictions(run, names),
        "gangs": _gangs(run, names, statuses, explain),
        "pods": _pods(waiting),
        "queues": _queues(run),
        "nodes": _nodes(run),
        "events": events,
    }
    if run.options.objects_out:
        allocated = {name: queue["allocated"] for name, queue in record["queues"].items()}
        record["objects"] = canonical(objects_of(run, statuses, allocated))
    if run.options.metrics_out:
        record["metrics"] = _metrics(run)
    record["ignored"] = dict(sorted(run.cluster.ignored.items()))
    record["warnings"] = [
        *run.warnings,
        *run.cluster.warnings,
        *_misread(run.cluster.misread),
        *_misread_owners(run.cluster.objects.values()),
    ]
    return record


def _misread(pods: dict[str, list[str]]) -> list[str]:
    """A warning for each way to name a gang that is not read, with a pod as an example."""
    return [
        f"{way} is not read yet: {named[0]}"
        + (
            " is scheduled as a pod alone"
            if len(named) == 1
            else f" and {len(named) - 1:,} more are scheduled pod by pod"
        )
        for way, named in pods.items()
    ]


def _misread_owners(things: Iterable[KubeObject]) -> list[str]:
    """A warning for each workload that says in a way that is not read that its pods are a gang."""
    owners = [thing for thing in things if isinstance(thing, Workload)]
    return sorted(
        f"{way} is not read yet: {owner} gets no gang by it" for owner in owners if (way := unread_minimum(owner))
    )


def _metrics(run: Run) -> dict[str, float]:
    tally = Tally()
    for _, result in run.history.log:
        tally.learn(result, run.engine.world)
    return readings(run.engine, tally)


def _waiting(run: Run) -> list[PodVerdict]:
    """What each waiting pod is told, in order."""
    told = run.history.told | unclaimed.told(run)
    return [told[pod] for pod in sorted(told, key=natural)]


def _told(run: Run, names: GangNames) -> tuple[dict[str, PodGroupStatus], list[Record]]:
    """The status of each PodGroup, made of all verdicts on it in turn, and the events on the way.

    What an object's last event said already is no event.
    """
    groups = {
        f"{thing.metadata.namespace}/{thing.metadata.name}": thing
        for thing in run.cluster.objects.values()
        if isinstance(thing, PodGroup)
    }
    statuses = {key: group.status for key, group in groups.items()}
    last: dict[str, volcano_status.Event] = {}
    events: list[Record] = []
    for now, result in run.history.log:
        for verdict in result.verdicts:
            group = groups.get(verdict.gang)
            if group is None or group.metadata.uid != verdict.uid:
                continue
            before = statuses[verdict.gang]
            after = volcano_status.status_of(before, verdict, now)
            event = volcano_status.event_of(before, after, verdict)
            statuses[verdict.gang] = after
            if event is not None and event != last.get(verdict.gang):
                last[verdict.gang] = event
                events.append(
                    {
                        "object": f"PodGroup {names.shown(verdict.gang)}",
                        "type": event.type,
                        "reason": event.reason,
                        "message": event.message,
                        "cycle": result.cycle,
                    }
                )
    return statuses, events


def _reservations(run: Run, names: GangNames) -> list[Record]:
    world, found = run.engine.world, []
    for row, since in run.engine.promises():
        fact = world.tasks.facts[row]
        node = world.nodes.keys[world.columns.ledger.task_node[row]]
        deadline = run.engine.deadline_of(row)
        if fact is not None:
            found.append(
                {
                    "pod": fact.key,
                    "node": node,
                    "gang": names.shown(fact.gang),
                    "kind": "pipelined",
                    "since": rfc3339(since),
                    "deadline": rfc3339(deadline) if deadline is not None else None,
                }
            )
    return sorted(found, key=lambda each: natural(each["pod"]))


def _evictions(run: Run, names: GangNames) -> list[Record]:
    return [
        {
            "pod": each.effect.pod,
            "node": each.effect.node,
            "by": names.shown(each.effect.by),
            "action": each.effect.action,
            "reason": each.effect.reason,
            "cycle": each.cycle,
        }
        for each in run.history.evictions
    ]


def _gangs(run: Run, names: GangNames, statuses: dict[str, PodGroupStatus], explain: Explain) -> Record:
    world, found = run.engine.world, {}
    places = _places(run)
    for row in world.gangs.rows():
        gang, key = Gang(world, row), world.gangs.keys[row]
        if gang.is_declared or gang.size:
            verdict, nodes = run.history.verdicts.get(key), places.get(row, Counter())
            found[names.shown(key)] = _gang(gang, verdict, statuses.get(key), nodes, explain(key))
    return {name: found[name] for name in sorted(found, key=natural)}


def _places(run: Run) -> dict[int, Counter[str]]:
    """How many pods of each gang (its row) use room on each node."""
    world, places = run.engine.world, dict[int, Counter[str]]()
    ledger = world.columns.ledger
    for row in world.tasks.declared():
        if OCCUPIES[ledger.task_status[row]]:
            gang, node = int(ledger.task_gang[row]), world.nodes.keys[ledger.task_node[row]]
            places.setdefault(gang, Counter())[node] += 1
    return places


def _gang(
    gang: Gang,
    verdict: Verdict | None,
    status: PodGroupStatus | None,
    nodes: Counter[str],
    explanation: Record | None,
) -> Record:
    fact = gang.fact if gang.is_declared else _undeclared(gang.key)
    conditions, counts = status.conditions if status else (), gang.counts
    return {
        "dialect": fact.dialect,
        "queue": fact.queue,
        "phase": (status.phase or None) if status else None,
        "min": fact.min_member,
        "members": verdict.members if verdict else gang.size,
        "ready": verdict.ready if verdict else gang.ready_count,
        "running": verdict.running if verdict else counts[Status.RUNNING],
        "pending": verdict.pending if verdict else sum(counts[status] for status in NODELESS),
        "succeeded": verdict.succeeded if verdict else counts[Status.SUCCEEDED],
        "failed": verdict.failed if verdict else counts[Status.FAILED],
        "nodes": {node: nodes[node] for node in sorted(nodes, key=natural)},
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
            for each in conditions
        ],
        "explanation": explanation,
    }


def _undeclared(key: str) -> GangFact:
    """What stands for a gang that members name and nobody declared."""
    namespace, _, name = key.partition("/")
    return GangFact(key=key, namespace=namespace, name=name, dialect=volcano.DIALECT, min_member=0)


def _pods(waiting: list[PodVerdict]) -> Record:
    return {
        pod.pod: {"reason": pod.reason, "message": pod.message, "nominatedNodeName": pod.nominated} for pod in waiting
    }


def _queues(run: Run) -> Record:
    queues = {thing.metadata.name: thing for thing in run.cluster.objects.values() if isinstance(thing, Queue)}
    allocated: dict[str, dict[str, int]] = {name: {} for name in queues}
    for each in run.history.queues:
        for queue in _with_parents(each.queue, queues):
            for resource, amount in each.allocated:
                allocated[queue][resource] = allocated[queue].get(resource, 0) + amount
    standing = {each.queue: each for each in run.history.queues}
    record = {}
    for name in sorted(queues, key=natural):
        verdict = standing.get(name)
        capability = queues[name].spec.capability
        record[name] = {
            "allocated": format_amounts(sorted(allocated[name].items())),
            "deserved": format_amounts(verdict.deserved) if verdict else {},
            "capability": {resource: str(capability[resource]) for resource in sorted(capability)},
            "share": verdict.share if verdict else None,
            "state": queues[name].status.state or "Open",
        }
    return record


def _with_parents(name: str, queues: dict[str, Queue]) -> list[str]:
    """A queue and those above it, up to the root."""
    chain: list[str] = []
    while name in queues and name not in chain:
        chain.append(name)
        name = queues[name].spec.parent or "root"
    return chain


def _nodes(run: Run) -> Record:
    world = run.engine.world
    ledger, traits = world.columns.ledger, world.columns.traits
    record = {}
    for row in sorted(world.nodes.declared(), key=lambda each: natural(world.nodes.keys[each])):
        record[world.nodes.keys[row]] = {
            "used": format_amounts(world.amounts(ledger.node_used[:, row])),
            "allocatable": format_amounts(world.amounts(traits.node_allocatable[:, row])),
        }
    return record
