"""Proportion and overcommit against the reference: the same shares to the last bit, and the same gangs admitted."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.cluster.facts import Amounts, Fact, GangFact
from posse.cluster.views import Gang
from posse.scheduler.engine import Engine
from posse.scheduler.plugins.proportion.plugin import ProportionPlugin
from posse.scheduler.switches import Side
from tests.builders import amounts, conf, crew, cycle, engine, gang, node, queue, task, the_queue, the_task
from tests.reference import proportion as reference
from tests.reference.admission import Admission
from tests.reference.cluster import Cluster
from tests.reference.quirks import MEANT, UPSTREAM

QUEUES = "abcd"
VOICES = ("overcommit", "proportion")
ASKERS = [task("x", cpu=0.3), task("y", cpu=2, memory=1), task("z", cpu=0, gpu=1)]
QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"


def some(most: int) -> st.SearchStrategy[Amounts]:
    """Amounts of some resources, or of none."""
    return st.fixed_dictionaries(
        {},
        optional={name: st.integers(0, most) for name in ("cpu", "memory", "gpu")},
    ).map(lambda given: amounts(**given))


queues = st.tuples(
    *(
        st.builds(
            queue,
            st.just(name),
            weight=st.integers(1, 5),
            priority=st.integers(0, 1),
            capability=some(12),
            guarantee=st.one_of(st.just(()), some(4)),
            state=st.sampled_from(["Open", "Open", "Open", "Closed"]),
        )
        for name in QUEUES
    )
)


@st.composite
def gangs(draw: st.DrawFn) -> list[Fact]:
    """Up to eight gangs, with members that run, wait, wait for a gate, or have ended."""
    facts: list[Fact] = []
    for number in range(draw(st.integers(1, 8))):
        name = f"g{number}"
        facts.append(
            gang(
                name,
                min=draw(st.integers(1, 3)),
                queue=draw(st.sampled_from([*QUEUES, "nowhere"])),
                min_resources=draw(st.one_of(st.none(), some(6))),
                phase=draw(st.sampled_from(["Pending", "Pending", "Inqueue", "Running"])),
            )
        )
        asks = {
            "cpu": draw(st.sampled_from([0, 0.3, 1, 2])),
            "memory": draw(st.integers(0, 2)),
            "gpu": draw(st.integers(0, 1)),
        }
        running, waiting, gated, ended = (draw(st.integers(0, 2)) for _ in range(4))
        gate = draw(st.sampled_from([("example.com/later",), (QUEUE_GATE,), (QUEUE_GATE, "example.com/later")]))
        facts += crew(name, running, on="n1", **asks)
        facts += crew(name, waiting, start=running, **asks)
        facts += crew(name, gated, start=running + waiting, gates=gate, **asks)
        facts += crew(name, ended, start=running + waiting + gated, phase="Succeeded", **asks)
    return facts


nodes = st.builds(
    lambda cpu, gpu: [node("n1", cpu=cpu, gpu=gpu), node("n2", cpu=3)], st.integers(1, 20), st.integers(0, 6)
)


def knowing(text: str, facts: Sequence[Fact], mode: Side = "posse") -> tuple[Engine, Cluster]:
    """An engine and a reference that know the same, after a cycle."""
    running = engine(text, *facts, mode=mode)
    cycle(running)
    return running, Cluster.of([queue("default"), *facts])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(nodes, queues, gangs())
def test_queues_deserve_the_same_to_the_last_bit(has: list[Fact], declared: list[Fact], work: list[Fact]) -> None:
    running, cluster = knowing(conf("proportion", actions="enqueue"), [*has, *declared, *work, *ASKERS])
    (plugin,) = running.tiers.plugins
    assert isinstance(plugin, ProportionPlugin)
    names = running.world.dimensions.names
    for name, deserves in reference.deserved(cluster).items():
        of = the_queue(running, name)
        assert dict(zip(names, plugin._deserved[of.row].tolist(), strict=True)) == {
            resource: deserves.get(resource, 0.0) for resource in names
        }
        assert (plugin.queue_overused(of) is not None) == reference.is_overused(cluster, name, deserves)
        assert plugin.queue_order(of) == (-of.fact.priority, reference.share(cluster, name, deserves))
        for one in ASKERS:
            may = plugin.queue_allocatable(of, the_task(running, one.name)) is None
            assert may == reference.may_take(cluster, of.fact, one, deserves)


@pytest.mark.parametrize("mode", ["posse", "upstream"])
@settings(max_examples=100, deadline=None, derandomize=True)
@given(has=nodes, declared=queues, work=gangs())
def test_the_same_gangs_are_admitted(mode: Side, has: list[Fact], declared: list[Fact], work: list[Fact]) -> None:
    facts = [*has, *declared, *work]
    asked = engine(conf("overcommit proportion", actions="enqueue"), *facts, mode=mode)
    cluster = Cluster.of([queue("default"), *facts])
    phases = {fact.key: fact.phase for fact in work if isinstance(fact, GangFact)}
    admission = Admission(cluster, phases, quirks=UPSTREAM if mode == "upstream" else MEANT)
    found = cycle(asked).verdicts
    refused = {each.gang for each in found if any(blocker.plugin in VOICES for blocker in each.blockers)}
    waiting = [each for each in _gangs(asked) if phases[each.key] == "Pending"]
    in_line = sorted(waiting, key=lambda each: (asked.tiers.queue_key(each.queue), asked.tiers.gang_key(each)))
    for each in in_line:
        assert (each.key not in refused) == admission.admit(each.fact), each.key


def _gangs(asked: Engine) -> list[Gang]:
    every = [Gang(asked.world, row) for row in asked.world.gangs.declared()]
    return [each for each in every if each.queue.is_declared]
