"""Observed: the status that a pod has by what its object says, nothing assumed."""

from posse.cluster.facts import TaskFact
from posse.cluster.status import Status


def status_of(fact: TaskFact) -> Status:
    """The status that a pod has by itself, nothing assumed."""
    match fact.phase:
        case "Succeeded":
            return Status.SUCCEEDED
        case "Failed":
            return Status.FAILED
    if fact.terminating:
        return Status.RELEASING
    if fact.phase == "Running" or (fact.phase == "Unknown" and fact.node):
        return Status.RUNNING
    if fact.node:
        return Status.BOUND
    if fact.gates:
        return Status.GATED
    if not fact.gang and fact.nominated:
        return Status.PIPELINED
    return Status.PENDING
