"""The simulated cluster: an API server's store, its nodes' kubelets, and the controllers that replace lost pods, all
of them minimal.

Objects go in admitted and expanded; what that means to the scheduler comes out as observations. Binds and evictions
are carried out as a cluster would: a bound pod runs at the start of the next cycle, an evicted one is gone by then,
and its owner, if it is in the input, creates another. What pods say of themselves (`posse.dev/arrival`, `run-time`,
`exit`) is entered in the calendar.
"""

from collections import Counter
from collections.abc import Callable, Iterable, MutableMapping
from typing import Literal

from msgspec import Struct, structs

from posse.cluster.facts import Observation
from posse.cluster.ordering import natural
from posse.cluster.overlay import Overlay
from posse.cluster.records import Bind, Evict, Payload
from posse.dialects.customs import Customs
from posse.dialects.translator import Translator
from posse.kube.manifests import Manifest, distinct
from posse.kube.meta import KubeObject, rfc3339
from posse.kube.objects import KINDS, Job, Node, OtherObject, Pod, PodDisruptionBudget, ResourceQuota
from posse.kube.workloads import Deployment, ReplicaSet, Workload
from posse.simulation.admission import Admission, with_built_ins
from posse.simulation.calendar import Calendar
from posse.simulation.daemons import Daemons, seated
from posse.simulation.identities import Identity, identity_of
from posse.simulation.ownership import collected_with, controlled_by, controller_of
from posse.simulation.places import Places
from posse.simulation.pod_wishes import Wishes, wishes_of
from posse.simulation.scaling import is_remodelled, is_rescaled, rescaled
from posse.simulation.scenario import Reference
from posse.simulation.standing import with_budget_status, with_quota_status
from posse.simulation.volumes import made_ready
from posse.simulation.workloads import expand, given_up, next_worker, recreate

UNBEGUN = ("", "Pending")
FINISHED = ("Succeeded", "Failed")
ALWAYS_THERE = {("Queue", "", "root"), ("Queue", "", "default")}
"""What every cluster has."""
FROM_OUTSIDE = ("arrives", "ends")
"""What does not happen in a cluster that stands still."""


class Happening(Struct, frozen=True):
    """Something that happens to one pod."""

    what: Literal["arrives", "runs", "ends", "goes"]
    pod: Identity
    uid: str = ""


class SimulatedCluster:
    """All objects, and what will happen to them."""

    def __init__(self, start: int, scheduler_names: tuple[str, ...] | None, customs: Customs) -> None:
        self.start, self.now = start, start
        self.objects: MutableMapping[Identity, KubeObject] = {}
        self._daemons = Daemons()
        self.ignored: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.misread: dict[str, list[str]] = {}
        """Pods that say in a way that is not read which gang they belong to, by that way."""
        self.ended = 0
        """How many pods ended because their declared run time was over."""
        self.calendar: Calendar[Happening] = Calendar()
        self._next_cycle: list[Happening] = []
        self._expected: list[Happening] = []
        """What is to happen in the cycle after the one that first sees the pod."""
        self._waiting: dict[Identity, Pod] = {}
        self._expanded: set[Identity] = set()
        """The owners whose pods were made here."""
        self.touched: set[Identity] = set()
        """What was made or changed here, and not given so by the input."""
        self._stands_still = False
        self._admission = Admission()
        self._translator = Translator(scheduler_names, customs)
        self._observations: list[Observation] = []

    # ------------------------------------------------------------------ what goes in

    def load(self, manifests: Iterable[Manifest]) -> None:
        """Take in the objects that the input begins with."""
        kept = distinct(manifests)
        self._take_in(kept, with_built_ins)

    def apply(self, manifests: Iterable[Manifest]) -> None:
        """Create or replace objects while the cluster runs."""
        self._take_in(manifests, list)

    def delete(self, reference: Reference) -> None:
        """Delete an object by its name, as a user would; what belongs to it goes with it."""
        identity = self.find(reference)
        if identity is not None and identity[1:] in ALWAYS_THERE:
            self.warnings.append(f"{reference.kind} {reference.name} is always there: it is not deleted")
            return
        if identity is not None:
            # nothing that matters here belongs to a pod, and many are deleted
            below = [] if identity[1] == Pod.KIND else collected_with(identity, self._everything())
            self._remove(identity)
            for each in below:
                self._drop(each)
            return
        namespace = reference.namespace or "default"
        self.warnings.append(f"nothing to delete: {reference.kind} {namespace}/{reference.name} is not there")

    def find(self, reference: Reference) -> Identity | None:
        """The object that is called so, if it is there."""
        kind, name, spaces = reference.kind, reference.name, (reference.namespace or "default", "")
        known = [(group, kind, space, name) for group, known in sorted(KINDS) if known == kind for space in spaces]
        found = [identity for identity in known if identity in self.objects]
        if not found and not known:
            found = sorted(one for one in self.objects if (one[1], one[3]) == (kind, name) and one[2] in spaces)
        return found[0] if found else None

    def _take_in(
        self, manifests: Iterable[Manifest], with_others: Callable[[list[KubeObject]], list[KubeObject]]
    ) -> None:
        places, things = Places(), []
        for manifest in manifests:
            things.append(manifest.decode())
            places.learn(things[-1], manifest.place)
        with places.named():
            self._admit_all(with_others(things), places)

    def _admit_all(self, things: list[KubeObject], places: Places) -> None:
        admitted = self._admission.admit(things, self.now)
        workloads = [thing for thing in admitted if isinstance(thing, Workload)]
        around = list(self.objects.values()) if workloads else []
        known = [
            (stood, thing) for thing in workloads if isinstance(stood := self.objects.get(identity_of(thing)), Workload)
        ]
        fresh = [thing for thing in admitted if not isinstance(self.objects.get(identity_of(thing)), Workload)]
        expansion = expand(fresh, lambda made: self._admit_made(made, places), around)
        self.warnings += expansion.warnings
        self._expanded.update(owner for child in expansion.made if (owner := controller_of(child)) is not None)
        made = [*expansion.made, *self._daemons_on(admitted)]
        self.touched.update(map(identity_of, made))
        for thing in self._complete([*admitted, *made]):
            self._put(_onto(self.objects.get(identity_of(thing)), thing))
        for stood, thing in known:
            self._rescale(stood, thing, places)

    def _rescale(self, stood: Workload, owner: Workload, places: Places) -> None:
        """Let a workload that was applied again have as many pods as it wants now."""
        if is_remodelled(stood, owner):
            self.warnings.append(f"{owner} has another template now: pods that are there keep theirs")
        if not is_rescaled(stood, owner):
            return
        below = [thing for thing in self._everything().values() if controller_of(thing) == identity_of(owner)]
        if isinstance(owner, Deployment):
            self._rescale_set(owner, [thing for thing in below if isinstance(thing, ReplicaSet)], places)
            return
        pods = [thing for thing in below if isinstance(thing, Pod)]
        change = rescaled(owner, pods, {each.metadata.name: each.value for each in self._admission.classes})
        for pod in change.surplus:
            self._drop(identity_of(pod))
        for thing in self._admit_made(change.made, places):
            self.touched.add(identity_of(thing))
            self._put(_onto(self.objects.get(identity_of(thing)), thing))

    def _rescale_set(self, owner: Deployment, sets: list[ReplicaSet], places: Places) -> None:
        """Hand a Deployment's number on to the ReplicaSet that has its pods, the youngest if none has."""
        if not sets:
            self.warnings.append(f"{owner} has no ReplicaSet in the input: its new number of pods has no effect")
            return
        latest = max(sets, key=lambda each: (each.spec.replicas, each.created, natural(each.metadata.name)))
        asked = structs.replace(latest, spec=structs.replace(latest.spec, replicas=owner.spec.replicas))
        self._store(asked)
        self._rescale(latest, asked, places)

    def _admit_made(self, made: list[KubeObject], places: Places) -> list[KubeObject]:
        places.inherit(made)
        return self._admission.admit(made, self.now)

    def _daemons_on(self, things: Iterable[KubeObject]) -> list[Pod]:
        """What runs on every node, on new nodes: there before anybody else is placed."""
        new = [thing for thing in things if isinstance(thing, Node) and identity_of(thing) not in self.objects]
        made = [pod for pod in self._daemons.on(new, self.objects) if identity_of(pod) not in self.objects]
        admitted = self._admission.admit(made, self.now) if made else []
        return seated((pod for pod in admitted if isinstance(pod, Pod)), new)

    def _complete(self, things: list[KubeObject]) -> list[KubeObject]:
        """Count what budgets and quotas say of themselves, where they say nothing."""
        if not any(isinstance(thing, PodDisruptionBudget | ResourceQuota) and thing.status is None for thing in things):
            return things
        pods = [thing for thing in [*self.objects.values(), *things] if isinstance(thing, Pod)]
        completed: list[KubeObject] = []
        for thing in things:
            match thing:
                case PodDisruptionBudget() if thing.status is None:
                    completed.append(with_budget_status(thing, pods))
                    self.touched.add(identity_of(thing))
                case ResourceQuota() if thing.status is None:
                    completed.append(with_quota_status(thing, pods))
                    self.touched.add(identity_of(thing))
                case _:
                    completed.append(thing)
        return completed

    def _put(self, thing: KubeObject) -> None:
        if isinstance(thing, Pod):
            self._put_new_pod(thing)
            return
        if isinstance(thing, OtherObject) and identity_of(thing) not in self.objects:
            self.ignored[f"{thing.api_version} {thing.kind_name}"] += 1
        self._store(thing)

    def _put_new_pod(self, pod: Pod) -> None:
        wishes = wishes_of(pod)
        arrival = self.start + wishes.arrival
        if arrival > self.now:
            self._translator.fork().put(pod)  # what is wrong with it is said now, not when it arrives
            self._waiting[identity_of(pod)] = pod
            self._enter(arrival, Happening("arrives", identity_of(pod)))
            return
        way = self._translator.misses(pod)
        if way and identity_of(pod) not in self.objects:
            self.misread.setdefault(way, []).append(str(pod))
        self._store(pod)
        self._expect(pod, wishes)

    def _expect(self, pod: Pod, wishes: Wishes) -> None:
        """Enter what will become of a pod that is there now."""
        identity, uid = identity_of(pod), pod.metadata.uid
        if pod.metadata.deletion_timestamp:
            gone = pod.time(pod.metadata.deletion_timestamp, "metadata.deletionTimestamp")
            if gone > self.now:
                self._enter(gone, Happening("goes", identity, uid))
            else:
                self.warnings.append(
                    f"{pod} should have been gone by {pod.metadata.deletion_timestamp}: it still holds its room"
                )
        elif pod.status.phase == "Running" and wishes.run_time is not None:
            began = pod.time(pod.status.start_time, "status.startTime") or self.start
            self._enter(began + wishes.run_time, Happening("ends", identity, uid))
        elif pod.spec.node_name and pod.status.phase in UNBEGUN:
            self._expected.append(Happening("runs", identity, uid))

    def _enter(self, time: int, happening: Happening) -> None:
        if not (self._stands_still and happening.what in FROM_OUTSIDE):
            self.calendar.enter(time, happening)

    def _store(self, thing: KubeObject) -> None:
        self.objects[identity_of(thing)] = thing
        self._daemons.learn(thing)
        self._observations += self._translator.put(thing)

    def _remove(self, identity: Identity) -> None:
        thing = self._forget(identity)
        if isinstance(thing, Pod):
            self._replace(thing)
        if isinstance(thing, Node):
            self._lose_pods_of(thing)

    def _lose_pods_of(self, node: Node) -> None:
        """A node is gone, and so are its pods when the next cycle begins: nobody runs them any more."""
        lost = [
            pod for pod in self.objects.values() if isinstance(pod, Pod) and pod.spec.node_name == node.metadata.name
        ]
        self._expected += [Happening("goes", identity_of(pod), pod.metadata.uid) for pod in lost]

    def _forget(self, identity: Identity) -> KubeObject:
        """Let an object be gone."""
        thing = self.objects.pop(identity)
        self._daemons.forget(identity)
        self._admission.forget(identity)
        _, kind, namespace, name = identity
        self._observations += self._translator.remove(kind, namespace, name, thing.metadata.uid)
        return thing

    def _drop(self, identity: Identity) -> None:
        """Let an object be gone, whether it has arrived or not, and nobody replace it."""
        if self._waiting.pop(identity, None) is None:
            self._forget(identity)

    def _everything(self) -> dict[Identity, KubeObject]:
        """All objects, and the pods that have not arrived."""
        return {**self.objects, **self._waiting}

    def _replace(self, lost: Pod) -> None:
        """Let a pod's owner create another."""
        of = controller_of(lost)
        if of is None or lost.status.phase == "Succeeded":
            return
        owner = self.objects.get(of)
        if isinstance(owner, Job) and lost.status.phase == "Failed":
            return  # another was made when it failed
        again = recreate(owner, lost) if owner is not None else None
        if owner is not None and again is not None:
            self._create(owner, again)

    def _follow(self, finished: Pod) -> None:
        """Let the Job of a pod that ended start the next one, if it wants one, or give up."""
        of = controller_of(finished)
        owner = self.objects.get(of) if of is not None else None
        if not isinstance(owner, Job):
            return
        failed = finished.status.phase == "Failed"
        if not failed and (owner.spec.completions or 0) <= (owner.spec.parallelism or 1):
            return  # it runs all it wants at once: no need to look for siblings
        siblings = [pod for pod in self._everything().values() if isinstance(pod, Pod) and controller_of(pod) == of]
        over = given_up(owner, siblings) if failed else None
        if over is not None:
            self._give_up(over, siblings)
            return
        following = next_worker(owner, finished, siblings)
        if following is not None:
            self._create(owner, following)

    def _give_up(self, owner: Job, pods: list[Pod]) -> None:
        """Let a Job have failed: its pods that have not ended are deleted."""
        self.warnings.append(f"{owner} has failed: {owner.status.conditions[-1].message}")
        self.touched.add(identity_of(owner))
        self._store(owner)
        for pod in pods:
            if pod.status.phase not in FINISHED:
                self._drop(identity_of(pod))

    def _create(self, owner: KubeObject, made: Pod) -> None:
        """Let an owner create a pod, under the next name that is free."""
        while identity_of(made) in self.objects and (further := recreate(owner, made)) is not None:
            made = further
        for pod in self._admission.admit([made], self.now):
            self.touched.add(identity_of(pod))
            self._store(pod)

    # ------------------------------------------------------------------ what is tried

    def remake(self, owner: Identity) -> dict[str, str]:
        """Let an owner whose template changed make its pods anew, those with a node aside. Gives new names by old."""
        thing = self.objects[owner]
        if not isinstance(thing, Workload) or owner not in self._expanded:
            return {}
        pods = [identity for identity in controlled_by(owner, self.objects) if isinstance(self.objects[identity], Pod)]
        replaced = [identity for identity in pods if not self._has_node(identity)]
        made = expand([thing], lambda things: self._admission.admit(things, self.now), self._admission.classes).made
        new = [child for child in made if not self._has_node(identity_of(child))]
        names = [identity_of(child) for child in new if isinstance(child, Pod)]
        for identity in sorted(set(replaced) - set(names)):
            self._forget(identity)
        for child in new:
            self._put(child)
        both = zip(sorted(replaced, key=_by_name), sorted(names, key=_by_name), strict=False)
        return {f"{was[2]}/{was[3]}": f"{now[2]}/{now[3]}" for was, now in both}

    def _has_node(self, identity: Identity) -> bool:
        thing = self.objects.get(identity)
        return isinstance(thing, Pod) and bool(thing.spec.node_name)

    # ------------------------------------------------------------------ what happens

    def deliver(self, now: int) -> tuple[Observation, ...]:
        """Let everything happen that is due, and say what the scheduler sees of it since it was last told."""
        self.now = now
        happenings, self._next_cycle, self._expected = [*self._next_cycle, *self.calendar.due(now)], self._expected, []
        for happening in happenings:
            self._happen(happening)
        seen, self._observations = tuple(self._observations), []
        return seen

    def _happen(self, happening: Happening) -> None:
        if happening.what == "arrives":
            arriving = self._waiting.pop(happening.pod, None)
            if arriving is not None:
                created = structs.replace(arriving.metadata, creation_timestamp=rfc3339(self.now))
                self._put_new_pod(structs.replace(arriving, metadata=created))
            return
        pod = self.objects.get(happening.pod)
        if not isinstance(pod, Pod) or pod.metadata.uid != happening.uid:
            return
        match happening.what:
            case "goes":
                self._remove(happening.pod)
            case "runs" if pod.status.phase in UNBEGUN:
                self.touched.add(happening.pod)
                status = structs.replace(pod.status, phase="Running", start_time=rfc3339(self.now))
                running = structs.replace(pod, status=status)
                self._store(running)
                run_time = wishes_of(pod).run_time
                if run_time is not None:
                    self._enter(self.now + run_time, Happening("ends", happening.pod, happening.uid))
            case "ends" if pod.status.phase not in FINISHED:
                self._end(pod)

    def _end(self, pod: Pod) -> None:
        """Let a pod's run time be over."""
        self.ended += 1
        self.touched.add(identity_of(pod))
        phase: Literal["Succeeded", "Failed"] = "Failed" if wishes_of(pod).fails else "Succeeded"
        ended = structs.replace(pod, status=structs.replace(pod.status, phase=phase))
        self._store(ended)
        self._follow(ended)

    # ------------------------------------------------------------------ what the scheduler decides

    def bind(self, bind: Bind) -> None:
        """Bind a pod; it runs when the next cycle begins."""
        identity = _pod(bind.pod)
        pod = self.objects[identity]
        assert isinstance(pod, Pod)
        self.objects[identity] = structs.replace(pod, spec=structs.replace(pod.spec, node_name=bind.node))
        self.touched.add(identity)
        self._next_cycle.append(Happening("runs", identity, bind.uid))
        for payload in bind.payloads:
            self._make_ready(payload)

    def _make_ready(self, payload: Payload) -> None:
        """Let a claim of a volume have what was decided for it."""
        for thing in self._admission.admit(made_ready(payload, self.objects), self.now):
            self.touched.add(identity_of(thing))
            self._store(thing)

    def evict(self, evict: Evict) -> None:
        """Evict a pod; it is gone when the next cycle begins."""
        self._next_cycle.append(Happening("goes", _pod(evict.pod), evict.uid))

    @property
    def is_quiet(self) -> bool:
        """Whether the next cycle would see nothing new."""
        return not (self._next_cycle or self._expected or self._observations)

    # ------------------------------------------------------------------ copies

    def fork(self, *, stands_still: bool) -> "SimulatedCluster":
        """A copy that goes on from here; this one must rest while it is in use.

        In one that stands still nobody arrives and nobody ends.
        """
        other = SimulatedCluster.__new__(SimulatedCluster)
        other.__dict__.update(self.__dict__)
        other.objects = Overlay(self.objects)
        other.ignored, other.warnings, other.misread = Counter(), [], {}
        other.calendar = self.calendar.fork(lambda entry: not (stands_still and entry.what in FROM_OUTSIDE))
        other._stands_still = stands_still
        other._next_cycle, other._expected = list(self._next_cycle), list(self._expected)
        other._waiting = dict(self._waiting)
        other._expanded, other.touched = set(self._expanded), set()
        other._daemons, other._observations = self._daemons.fork(), list(self._observations)
        other._admission, other._translator = self._admission.fork(), self._translator.fork()
        return other


def _onto(stood: KubeObject | None, thing: KubeObject) -> KubeObject:
    """What an API server makes of an object that is applied to what stood there.

    Who applies a manifest without a status leaves the status as it is, and a pod that has a node stays on it.
    """
    if stood is None or stood.metadata.uid != thing.metadata.uid:
        return thing
    status = getattr(thing, "status", None)
    if status is not None and status == type(status)():
        thing = structs.replace(thing, status=getattr(stood, "status", status))
    if isinstance(thing, Pod) and isinstance(stood, Pod) and not thing.spec.node_name:
        thing = structs.replace(thing, spec=structs.replace(thing.spec, node_name=stood.spec.node_name))
    return thing


def _pod(key: str) -> Identity:
    """A pod by the key that the scheduler knows it by."""
    namespace, _, name = key.partition("/")
    return "", Pod.KIND, namespace, name


def _by_name(identity: Identity) -> tuple[object, ...]:
    return natural(identity[2]), natural(identity[3])
