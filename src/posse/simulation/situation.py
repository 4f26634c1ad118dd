"""The simulator's side of what-if: objects as the input gave them, and trials on copies of the run.

A trial is a run like any other, forked from the one that ended: the change goes through the same admission, expansion
and translation as every object, and the cycles are the same cycles, only that nothing arrives and nothing ends by
itself. An owner whose template was changed makes those of its pods anew that have no node.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from posse.cluster.ordering import natural
from posse.cluster.verdict import Verdict
from posse.cluster.world import World
from posse.dialects import plain
from posse.errors import Place
from posse.kube.encoding import manifest_of
from posse.kube.manifests import Manifest, from_values
from posse.kube.meta import KubeObject, group_of, rfc3339
from posse.kube.objects import Pod, PodGroup
from posse.kube.workloads import Workload
from posse.scheduler.engine import Engine
from posse.simulation import scenario
from posse.simulation.gang_names import GangNames
from posse.simulation.identities import Identity, identity_of
from posse.simulation.run import Run
from posse.simulation.workloads import recreate
from posse.whatif import line
from posse.whatif.explanation import Change, Estimate, LastEviction, Reference
from posse.whatif.situation import Source

PATIENCE = 10
"""Cycles within which a remedy must have worked."""
FORESIGHT = 1000
"""Cycles that are looked ahead for an estimate, at most."""


class SimulatedTrial:
    """A copy of a run, with a change in it."""

    def __init__(self, run: Run, change: Change, spares: list[World], watch: line.Watch) -> None:
        self._spares, self._watch = spares, watch
        self._cycles = 0
        self.started: set[str] = set()
        self.is_over = False
        self._run = run.fork(stands_still=True, spare=spares.pop() if spares else None)
        self._names: dict[str, str] = {}
        """Names outside, by new names, of pods that were made anew."""
        cluster = self._run.cluster
        cluster.now = self._run.now
        manifests = list(from_values(change.patch, Place()))
        cluster.apply(manifests)
        for manifest in manifests:
            owner = cluster.find(_reference(manifest.kind, manifest.namespace, manifest.name))
            if owner is not None:
                self._names |= {new: old for old, new in cluster.remake(owner).items()}
        for reference in change.remove:
            cluster.delete(_reference(reference.kind, reference.namespace, reference.name))
        self._run.engine.world.observe(cluster.deliver(self._run.now))

    @property
    def engine(self) -> Engine:
        """The scheduler of the copy."""
        return self._run.engine

    def starts(self, gang: str) -> bool:
        """Run cycles until a gang has its minimum, or one more if it had that, or nothing moves any more."""
        while not (self.is_over or gang in self.started):
            moves = self._run.step()
            self._cycles += 1
            self.started.update(map(self._name_outside, self._watch.news(self.engine)))
            self.is_over = not moves or self._cycles == PATIENCE
        return gang in self.started

    def close(self) -> None:
        """Let the next copy have the room of this one."""
        self._spares.append(self.engine.world)

    def _name_outside(self, gang: str) -> str:
        """The key that a gang has outside; that of a lone pod is another if the pod was made anew under a new name."""
        alone = gang.removesuffix(f" ({plain.DIALECT})")
        return plain.key_of(*self._names[alone].split("/", 1)) if alone != gang and alone in self._names else gang


class SimulatedSituation:
    """A run as it stands when it is over."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._spares: list[World] = []
        """Worlds of trials that are over."""
        self._started, self._ready = line.started(run.engine), line.ready(run.engine.world)
        run.engine.world.rank(np.flatnonzero(~self._started).tolist())  # once, and not in every copy

    @property
    def engine(self) -> Engine:
        """The scheduler as it stands."""
        return self._run.engine

    @property
    def now(self) -> int:
        """The time of the last cycle."""
        return self._run.now_at_end

    def trial(self, change: Change) -> SimulatedTrial:
        """A copy of the run with a change in it."""
        return SimulatedTrial(self._run, change, self._spares, line.Watch(self._started, self._ready))

    # ------------------------------------------------------------------ what was found

    def verdict(self, gang: str) -> Verdict | None:
        """What was last found about a gang."""
        return self._run.history.verdicts.get(gang)

    def last_eviction(self, gang: str) -> LastEviction | None:
        """When a gang last lost a member to another."""
        return self._evictions.get(gang)

    @cached_property
    def _evictions(self) -> dict[str, LastEviction]:
        names = GangNames(self.engine.world)
        return {
            each.gang: LastEviction(
                rfc3339(each.time), names.shown(each.effect.by), each.effect.action, each.effect.reason
            )
            for each in self._run.history.evictions
        }

    def estimate(self, gang: str) -> Estimate:
        """When a gang will start, if everything takes its declared course."""
        return self._starts.get(gang, Estimate())

    @cached_property
    def _starts(self) -> dict[str, Estimate]:
        """The future, once for all gangs: the run goes on as long as anything is due."""
        if self._run.is_settled:
            return {}
        future, starts = self._run.fork(stands_still=False), dict[str, Estimate]()
        watch, still_waiting = line.Watch(self._started), len(line.waiting(self.engine))
        with_nothing_due = 0
        for _ in range(FORESIGHT):
            moves = future.step()
            rests_on_run_times = future.cluster.ended > self._run.cluster.ended
            estimate = Estimate(rfc3339(future.now_at_end), "declared run times" if rests_on_run_times else "none")
            for gang in watch.news(future.engine):
                starts.setdefault(gang, estimate)
            with_nothing_due = 0 if future.cluster.calendar.next is not None else with_nothing_due + 1
            if not moves or with_nothing_due == PATIENCE or len(starts) >= still_waiting:
                break
        return starts

    # ------------------------------------------------------------------ objects

    def _was_given(self, identity: Identity) -> Manifest | None:
        group, kind, namespace, name = identity
        found = self._run.given.get((kind, namespace or "default", name))
        return found if found is not None and group_of(found.api_version) == group else None

    def _manifest(self, identity: Identity) -> dict[str, Any]:
        """An object as it was given; as it stands if nobody gave it."""
        given = self._was_given(identity)
        if given is None:
            return manifest_of(self._run.cluster.objects[identity])
        body: dict[str, Any] = msgspec.json.decode(given.body) if isinstance(given.body, msgspec.Raw) else given.body
        return body

    def find(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        """An object by its name."""
        identity = self._run.cluster.find(_reference(kind, namespace, name))
        return None if identity is None else self._manifest(identity)

    def names(self, kind: str) -> Sequence[str]:
        """The names of all objects of a kind."""
        return sorted((identity[3] for identity in self._run.cluster.objects if identity[1] == kind), key=natural)

    def declaring(self, gang: str) -> Sequence[dict[str, Any]]:
        """The group's own object, if the input holds it, and the job that made it."""
        namespace, _, name = gang.partition("/")
        identity = (group_of(PodGroup.API_VERSION), PodGroup.KIND, namespace, name)
        group = self._run.cluster.objects.get(identity)
        if group is None:
            return ()
        owner = self._owner(group)
        found = [identity] if self._was_given(identity) is not None or owner is None else []
        return [self._manifest(each) for each in [*found, *([owner] if owner is not None else [])]]

    def sources(self, pods: Sequence[str]) -> Sequence[Source]:
        """The objects that pods were made from."""
        made: dict[Identity, list[Reference]] = {}
        for key in pods:
            pod = self._run.cluster.objects.get(_pod(key))
            if isinstance(pod, Pod):
                source, reference = self._source(pod)
                made.setdefault(source, []).extend(reference)
        return [Source(self._manifest(identity), tuple(remade)) for identity, remade in made.items()]

    def _source(self, pod: Pod) -> tuple[Identity, list[Reference]]:
        """What a pod was made from; and the pod itself if it must be removed for its owner to make it anew."""
        identity, owner = identity_of(pod), self._owner(pod)
        if self._was_given(identity) is None:
            return (owner, []) if owner is not None else (identity, [])
        maker = self._run.cluster.objects.get(owner) if owner is not None else None
        if owner is None or maker is None or recreate(maker, pod) is None:
            return identity, []
        return owner, [Reference(Pod.KIND, identity[2], identity[3])]

    def _owner(self, thing: KubeObject) -> Identity | None:
        """The uppermost owner of an object that the input holds."""
        found, seen = None, set[Identity]()
        here: KubeObject | None = thing
        while here is not None and here.controller is not None and identity_of(here) not in seen:
            seen.add(identity_of(here))
            reference, space = here.controller, here.metadata.namespace
            above = (group_of(reference.api_version), reference.kind, space, reference.name)
            here = self._run.cluster.objects.get(above)
            if isinstance(here, Workload) and self._was_given(above) is not None:
                found = above
        return found

    def removal(self, pods: Sequence[str]) -> Sequence[Reference]:
        """The pods themselves, or the owners that would bring them back."""
        found: dict[Reference, None] = {}
        for key in pods:
            pod = self._run.cluster.objects.get(_pod(key))
            owner = self._owner(pod) if pod is not None else None
            _, kind, namespace, name = owner if owner is not None else _pod(key)
            found[Reference(kind, namespace, name)] = None
        return list(found)


def _pod(key: str) -> Identity:
    namespace, _, name = key.partition("/")
    return "", Pod.KIND, namespace, name


def _reference(kind: str, namespace: str, name: str) -> scenario.Reference:
    return scenario.Reference(kind, name, namespace)
