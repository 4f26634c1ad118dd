"""The rules, each a function from what was seen to those who broke it.

They are judged by what the API showed and by what Kubernetes and PodGroups promise their users, so they hold for any
scheduler; `ours` are the names of those that are held to them. Two things are out of sight: who bound a pod (it is
taken to have been the scheduler that the pod names), and who deleted one (the test says which deletions are its own).

`slack` is for what nobody could know in time: a bind is right if it was so with the node as it was a moment before, and
without the pods that others had put there only just then.

Not judged: host ports, affinity between pods, spread, volumes, devices; minimums of roles and of sub-gangs.
"""

from collections.abc import Collection, Iterator

from tests.cluster.checker.events import key
from tests.cluster.checker.gangs import Life, lives
from tests.cluster.checker.history import Bind, History, Seen
from tests.cluster.checker.objects import SOMEBODY_ELSE, Pod
from tests.cluster.checker.placing import refusals
from tests.cluster.checker.report import Eviction, Rule, Violation
from tests.cluster.checker.rooms import overfull

Names = Collection[str]
"""Of schedulers; or of pods, gangs (`namespace/name`) and namespaces."""


def bound_twice(history: History) -> Iterator[Violation]:
    """No pod that has a node gets another, or loses it."""
    for line in history.pods.values():
        bound: Seen | None = None
        for seen in line:
            if bound and bound.pod.node != seen.pod.node:
                story = f"it was bound to {bound.pod.node}, and then to {seen.pod.node or 'none'}"
                yield of_pod(Rule.BOUND_TWICE, seen, story, bound)
            bound = seen if seen.pod.node else None


def misplaced(history: History, ours: Names, slack: float) -> Iterator[Violation]:
    """A pod is bound to a node that is there and takes it: cordon, taints, selectors, required affinity."""
    for bind in ours_among(history, ours):
        states = history.nodes_at(bind.seen.pod.node, bind.seen.event, slack)
        reasons = [list(refusals(bind.seen.pod, state)) for state in states]
        if all(reasons):
            story = f"it was bound to {bind.seen.pod.node}, but {'; '.join(reasons[0])}"
            yield of_pod(Rule.MISPLACED, bind.seen, story, bind.before)


def overcommitted(history: History, ours: Names, slack: float) -> Iterator[Violation]:
    """What all pods of a node take is no more than it has to give, when a pod is bound to it."""
    binds = {id(bind.seen.event) for bind in ours_among(history, ours)}
    for event, node, room, excess in overfull(history, binds, ours, slack):
        story = f"with {key(event.object)} its {len(room)} pods take {excess}"
        yield Violation(Rule.OVERCOMMITTED, f"node {node}", event.at, event.at, story, room)


def gated(history: History, ours: Names) -> Iterator[Violation]:
    """A pod is not bound while it has scheduling gates."""
    for bind in ours_among(history, ours):
        if bind.before.pod.gated:
            yield of_pod(Rule.GATED, bind.seen, f"it was bound to {bind.seen.pod.node}", bind.before)


def half_bound(history: History, ours: Names, repair_time: float) -> Iterator[Violation]:
    """A gang that has not started is not bound in part for longer than it takes to repair it."""
    for name, life in lives(history, ours).items():
        for half in life.halves:
            until = half.until.at if half.until else history.end
            lasted = history.lasted(half.since.at, until)
            if lasted > repair_time:
                story = (
                    f"{half.bound} of the {half.needed} members it needs were bound for {lasted:.3f} s,"
                    f" and {repair_time:g} s are allowed"
                )
                yield Violation(Rule.HALF_BOUND, f"gang {name}", half.since.at, until, story, half.events)


def not_started(history: History, ours: Names, names: Names, by: float) -> Iterator[Violation]:
    """What is named (a gang, or a pod) has room, and so has started by then: gangs whole, pods with a node."""
    told = lives(history, ours)
    bound = {bind.seen.pod.key for bind in history.binds() if bind.seen.event.at <= by}
    for name in names:
        life = told.get(name, Life())
        if name not in bound and not any(since.at <= by for since, _ in life.runs):
            story = f"{len(life.held)} of {life.needed or 'an unknown number of'} members are bound"
            yield Violation(Rule.NOT_STARTED, name, history.start, min(by, history.end), story)


def unexplained(history: History, ours: Names, patience: float) -> Iterator[Violation]:
    """At the end every pod has a node, has ended, or says in its conditions why it waits; the youngest get a while."""
    for seen in history.last():
        pod, first = seen.pod, history.pods[seen.pod.uid][0].event
        settled = pod.node or pod.over or pod.leaving or pod.gated or pod.explained
        lasted = history.lasted(first.at, history.end)
        if pod.scheduler in ours and not settled and lasted > patience:
            story = f"for {lasted:.3f} s it was neither bound nor told why not"
            yield Violation(Rule.UNEXPLAINED, f"pod {pod.key}", first.at, history.end, story, [first, seen.event])


def evictions(history: History, ours: Names, victims: Names) -> Iterator[Eviction]:
    """Pods that left before their end and unasked. It is right to repair a half-bound gang, and to take the victims."""
    told = lives(history, ours)
    asked = history.asked()
    for line in history.pods.values():
        at = next((at for at, seen in enumerate(line) if seen.pod.leaving or not seen.here), 0)
        before, seen = line[at - 1], line[at]
        if not at or before.pod.over or seen.pod.disruption in SOMEBODY_ELSE or named(seen.pod, asked):
            continue
        life = told.get(seen.pod.gang, Life())
        repair = before.pod.node and life.needed and seen.pod.scheduler in ours and not life.ran_at(seen.event)
        yield Eviction(
            seen.pod, seen.event, "as a victim" if named(seen.pod, victims) else "to repair" if repair else ""
        )


def evicted(found: Collection[Eviction]) -> Iterator[Violation]:
    """Nobody else is taken away."""
    for it in found:
        if not it.excuse:
            seen = Seen(it.event, it.pod)
            yield of_pod(Rule.EVICTED, seen, f"it was on {it.pod.node or 'no node'}: {it.how}")


def ours_among(history: History, ours: Names) -> Iterator[Bind]:
    """Give the binds of pods of these schedulers, where enough is known to judge them."""
    return (it for it in history.binds() if it.seen.pod.scheduler in ours and not history.blind(it.seen.event))


def named(pod: Pod, names: Names) -> bool:
    """Whether a pod is among what is named."""
    return any(it in names for it in (pod.key, pod.gang, pod.namespace) if it)


def of_pod(rule: Rule, seen: Seen, story: str, before: Seen | None = None) -> Violation:
    """Tell of a pod, and of the moment in which it broke a rule."""
    proof = [it.event for it in (before, seen) if it]
    return Violation(rule, f"pod {seen.pod.key}", proof[0].at, seen.event.at, story, proof)
