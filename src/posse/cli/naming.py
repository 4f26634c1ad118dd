"""Finding the gang that someone means, by whichever name they know it: its own, its job's, its workload's, or a pod's.

    train │ team-a/train │ Deployment/web │ team-a/Deployment/web │ train-worker-3 │ pod/train-worker-3 │ PodGroup/train

A name without a namespace is looked for in all of them. In one namespace a gang's own name goes before that of a pod or
an owner. The pods of a workload may be a gang each: then the first of them that waits speaks for the workload. A name
that still fits several things is asked back with all of them.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from posse.cluster.ordering import natural
from posse.cluster.status import Status
from posse.cluster.views import Task
from posse.errors import InputError, Place
from posse.kube.meta import KubeObject, OwnerReference
from posse.kube.objects import Pod
from posse.simulation.run import Run

MOST = 5
ACCEPTED = "a gang, a job, a workload or a pod: NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME"
NAME = Place(field="NAME")
WAITING = (Status.PENDING, Status.GATED)
GROUP = "PodGroup"


class Workload(Struct, frozen=True):
    """A workload of several gangs: its name, its pods, and how many of them wait."""

    name: str
    pods: int
    waiting: int


class Meant(Struct, frozen=True):
    """The gang that a name means (its key), and the workload that it speaks for, if the name is that of one."""

    gang: str
    workload: Workload | None = None


class _Thing(Struct, frozen=True):
    """Whatever has a name. A gang has no kind."""

    namespace: str
    kind: str
    name: str

    @property
    def forms(self) -> list[str]:
        """The ways to write its name."""
        forms = [self.name, f"{self.namespace}/{self.name}"]
        return [*forms, f"{self.kind}/{self.name}", str(self)] if self.kind else forms

    def __str__(self) -> str:
        return "/".join(part for part in (self.namespace, self.kind, self.name) if part)


def gang_meant(name: str, run: Run, shown: Mapping[str, str]) -> Meant:
    """The gang that a name means; `shown` are the names of gangs as people see them, and their keys."""
    if not name.strip():
        raise InputError("is empty", place=NAME, accepted=ACCEPTED)
    called = _Names(run, shown)
    found = called.find(name)
    if not found:
        raise InputError(f"there is no {name!r}{_nearest(name, called.forms)}", place=NAME, accepted=ACCEPTED)
    if len(found) > 1:
        options = ", ".join(sorted(map(called.shown_of, found), key=natural))
        raise InputError(f"{name!r} means several gangs", place=NAME, accepted=options)
    return called.meant_by(found[0])


class _Names:
    """All names of everything, each with the things it may mean, and those with their gangs and pods."""

    def __init__(self, run: Run, shown: Mapping[str, str]) -> None:
        self._shown = {key: name for name, key in shown.items()}
        self.forms: dict[str, dict[_Thing, None]] = {}
        self._gangs: dict[_Thing, set[str]] = {}
        self._pods: dict[_Thing, list[Task]] = {}
        groups = {(space, name) for _, kind, space, name in run.cluster.objects if kind == GROUP}
        for name, key in shown.items():
            space, _, own = key.partition(" (")[0].partition("/")
            self._enter(_Thing(space, "", name.removeprefix(f"{space}/")), key)
            if (space, own) in groups:
                self._enter(_Thing(space, GROUP, own), key)
        self._enter_pods(run)

    def _enter_pods(self, run: Run) -> None:
        world = run.engine.world
        for row in world.tasks.declared():
            fact = world.tasks.facts[row]
            if fact is not None and fact.gang:
                names = ((Pod.KIND, fact.name), *_owners(run, fact.namespace, fact.name))
                for thing in [_Thing(fact.namespace, kind, name) for kind, name in names]:
                    self._enter(thing, fact.gang)
                    self._pods.setdefault(thing, []).append(Task(world, row))

    def _enter(self, thing: _Thing, gang: str) -> None:
        for form in thing.forms:
            self.forms.setdefault(form, {})[thing] = None
        self._gangs.setdefault(thing, set()).add(gang)

    def find(self, name: str) -> list[_Thing]:
        """The things that a name may mean, one per gang or workload: exactly so written, else in any case."""
        folded = name.casefold()
        things = self.forms.get(name) or {
            thing: None for form, those in self.forms.items() if form.casefold() == folded for thing in those
        }
        spaces = sorted({thing.namespace for thing in things})
        return [one for space in spaces for one in self._distinct([each for each in things if each.namespace == space])]

    def _distinct(self, things: list[_Thing]) -> list[_Thing]:
        """Of things in one namespace, the gang that is called so; else whichever have all the gangs of the others."""
        own = [thing for thing in things if not thing.kind]
        largest = max(things, key=lambda thing: len(self._gangs[thing]))
        if all(self._gangs[thing] <= self._gangs[largest] for thing in things) and not own:
            return [largest]
        return own or things

    def meant_by(self, thing: _Thing) -> Meant:
        """The gang of a thing; of several the first that waits, by name."""
        gangs = self._gangs[thing]
        if len(gangs) == 1:
            return Meant(next(iter(gangs)))
        pods = self._pods[thing]
        waiting = [pod for pod in pods if pod.status in WAITING]
        first = min({pod.fact.gang or "" for pod in waiting or pods}, key=self._in_order)
        return Meant(first, Workload(f"{thing.kind} {thing.namespace}/{thing.name}", len(pods), len(waiting)))

    def _in_order(self, gang: str) -> str:
        return natural(self._shown.get(gang, gang))

    def shown_of(self, thing: _Thing) -> str:
        """What a thing is called when it is asked back: a gang by the name that people see."""
        return str(thing) if thing.kind else self._shown.get(next(iter(self._gangs[thing])), str(thing))


def _owners(run: Run, namespace: str, pod: str) -> Iterator[tuple[str, str]]:
    """Everything above a pod, kind and name: its ReplicaSet, that one's Deployment, and so on."""
    thing: KubeObject | None = run.cluster.objects.get(("", Pod.KIND, namespace, pod))
    seen: set[str] = set()
    while thing is not None and (above := _controller(thing)) is not None and above.uid not in seen:
        seen.add(above.uid)
        yield above.kind, above.name
        thing = _object(run, above, namespace)


def _controller(thing: KubeObject) -> OwnerReference | None:
    references = thing.metadata.owner_references
    return thing.controller or (references[0] if references else None)


def _object(run: Run, reference: OwnerReference, namespace: str) -> KubeObject | None:
    group = reference.api_version.rpartition("/")[0]
    return run.cluster.objects.get((group, reference.kind, namespace, reference.name))


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known, key=natural), n=MOST, cutoff=0.5)
    return f"; the nearest names are {', '.join(near)}" if near else ""
