"""What each queue deserves by weight, and what follows: queue order, who has had enough, what may still be taken.

Rounds: all unmet queues get their weight's part of what remains, but never more than they ask for or may have; what
they leave goes into the next round.
"""

from posse.cluster.facts import GangFact, QueueFact, TaskFact

from .cluster import ALLOCATED, CPU, MEMORY, Cluster
from .gangs import PENDING, PIPELINED, members
from .resources import (
    Resources,
    capped,
    dominant_share,
    is_nothing,
    raised,
    requests,
    resources,
    scaled,
    surplus,
    total,
    within,
    within_for,
)

UNLIMITED = float("inf")


def total_allocatable(cluster: Cluster) -> Resources:
    """What all nodes have."""
    return total(resources(node.allocatable) for node in cluster.nodes.values())


def gangs_of(cluster: Cluster, queue: str) -> list[GangFact]:
    """The gangs that name a queue."""
    return [gang for gang in cluster.gangs.values() if gang.queue == queue]


def allocated(cluster: Cluster, queue: str) -> Resources:
    """What a queue has, promised room included."""
    return requests(task for gang in gangs_of(cluster, queue) for task in members(cluster, gang, ALLOCATED | PIPELINED))


def request(cluster: Cluster, queue: str) -> Resources:
    """What a queue has and would still like, gangs that wait to be admitted included."""
    return requests(task for gang in gangs_of(cluster, queue) for task in members(cluster, gang, ALLOCATED | PENDING))


def real_capability(cluster: Cluster, queue: QueueFact) -> Resources:
    """The most a queue may have: what others' guarantees leave, its own guarantee, and never more than its capability.

    A resource that is absent from it was guaranteed away in full.
    """
    guaranteed = total(resources(each.guarantee) for each in cluster.queues.values())
    possible = total([surplus(total_allocatable(cluster), guaranteed), resources(queue.guarantee)])
    if not queue.capability:
        return possible
    limit = resources(queue.capability)
    for name in (CPU, MEMORY):
        limit[name] = limit[name] or UNLIMITED
    return capped(possible, limit, absent=UNLIMITED)


def deserved(cluster: Cluster) -> dict[str, Resources]:
    """What each queue that has gangs deserves."""
    used_queues = {gang.queue for gang in cluster.gangs.values()}
    queues = {key: cluster.queues[key] for key in sorted(used_queues) if key in cluster.queues}
    result = {key: resources() for key in queues}
    unmet, remaining = set(queues), total_allocatable(cluster)
    while total_weight := sum(queues[key].weight for key in unmet):
        given, taken_back = resources(), resources()
        for key in sorted(unmet):
            before = result[key]
            part = scaled(remaining, float(queues[key].weight) / float(total_weight))
            result[key] = after = _limited(cluster, queues[key], total([before, part]))
            if within(request(cluster, key), after) or after == before:
                unmet.remove(key)
            given = total([given, surplus(after, before)])
            taken_back = total([taken_back, surplus(before, after)])
        before, remaining = remaining, surplus(total([remaining, taken_back]), given)
        if is_nothing(remaining) or remaining == before:
            break
    return result


def _limited(cluster: Cluster, queue: QueueFact, wish: Resources) -> Resources:
    possible = capped(wish, real_capability(cluster, queue), absent=UNLIMITED)
    asked = capped(possible, request(cluster, queue.key), absent=0.0)
    return raised(asked, resources(queue.guarantee))


def share(cluster: Cluster, queue: str, deserves: Resources) -> float:
    """How much of what it deserves a queue has: the smaller, the sooner it is asked."""
    return dominant_share(allocated(cluster, queue), deserves)


def is_overused(cluster: Cluster, queue: str, deserves: Resources) -> bool:
    """Whether a queue has all it deserves."""
    return within(deserves, allocated(cluster, queue))


def may_take(cluster: Cluster, queue: QueueFact, task: TaskFact, deserves: Resources) -> bool:
    """Whether a queue may give a task its room: it is open, and stays within what it deserves."""
    asked = resources(task.shape.requests)
    return queue.state == "Open" and within_for(total([allocated(cluster, queue.key), asked]), deserves, asked)
