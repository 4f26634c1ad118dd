"""Conformance: the cluster's own pods are nobody's victims."""

from collections.abc import Sequence
from typing import ClassVar

from posse.cluster.views import Gang, Task
from posse.scheduler.plugin import THE_WORLD, Plugin

CRITICAL_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
SYSTEM_NAMESPACE = "kube-system"


class ConformancePlugin(Plugin):
    """Protect system pods from eviction."""

    name: ClassVar[str] = "conformance"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    protects: ClassVar[bool] = True

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Spare system pods."""
        return _others(candidates)

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Spare system pods."""
        return _others(candidates)

    def evictable(self, for_gang: Gang, candidates: Sequence[Task], *, across_queues: bool) -> Sequence[Task] | None:
        """Spare system pods."""
        return _others(candidates)


def _others(candidates: Sequence[Task]) -> list[Task]:
    return [task for task in candidates if not _is_system(task)]


def _is_system(task: Task) -> bool:
    return task.fact.priority_class in CRITICAL_CLASSES or task.fact.namespace == SYSTEM_NAMESPACE
