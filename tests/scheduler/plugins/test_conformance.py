"""Conformance: the cluster's own pods are nobody's victims."""

from typing import Any

import pytest

from posse.scheduler.victims import victims, victims_of_gang
from tests.builders import conf, engine, gang, node, task, the_gang, the_task

CRITICAL = [
    {"priority_class": "system-cluster-critical"},
    {"priority_class": "system-node-critical"},
    {"namespace": "kube-system"},
]


@pytest.mark.parametrize("fields", CRITICAL)
@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
def test_a_system_pod_stays(point: Any, fields: dict[str, Any]):
    system, other = task("system", "a", on="n1", **fields), task("other", "a", on="n1")
    running = engine(conf("conformance"), node("n1"), gang("a"), system, other, gang("b"), task("b-0", "b"))
    candidates = [the_task(running, "other")]
    row = running.world.tasks.find(f"{fields.get('namespace', 'default')}/system")
    protected = type(candidates[0])(running.world, row)
    assert victims(running.tiers, point, the_task(running, "b-0"), [protected, *candidates]) == candidates


def test_a_system_pod_stays_when_whole_gangs_go():
    system = task("system", "a", on="n1", priority_class="system-node-critical")
    running = engine(conf("conformance"), node("n1"), gang("a"), system, gang("b"))
    candidates = [the_task(running, "system")]
    assert victims_of_gang(running.tiers, the_gang(running, "b"), candidates, across_queues=True) == []


def test_a_class_that_only_sounds_critical_protects_nobody():
    pod = task("app", "a", on="n1", priority_class="cluster-critical")
    running = engine(conf("conformance"), node("n1"), gang("a"), pod, gang("b"), task("b-0", "b"))
    candidates = [the_task(running, "app")]
    assert victims(running.tiers, "preemptable", the_task(running, "b-0"), candidates) == candidates
