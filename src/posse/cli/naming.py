"""Finding the gang that someone means, by whichever name they know it: its own, its job's, its workload's, or a pod's.

    train │ team-a/train │ Deployment/web │ team-a/Deployment/web │ train-worker-3 │ pod/train-worker-3

A name without a namespace is looked for in all of them. A name that fits several gangs is asked back with all of them.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from posse.cluster.ordering import natural
from posse.errors import InputError, Place
from posse.kube.meta import KubeObject, OwnerReference
from posse.kube.objects import Pod
from posse.simulation.run import Run

MOST = 5
ACCEPTED = "a gang, a job, a workload or a pod: NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME"


def gang_meant(name: str, run: Run, shown: Mapping[str, str]) -> str:
    """The gang (its key) that a name means; `shown` are the names of gangs as people see them, and their keys."""
    called = _Names(run, shown)
    found = called.find(name)
    if len(found) == 1:
        return found.pop()
    if found:
        options = ", ".join(sorted((called.shown_of(key) for key in found), key=natural))
        raise InputError(f"{name!r} means several gangs", place=Place(field="NAME"), accepted=options)
    raise InputError(f"there is no {name!r}{_nearest(name, called.all)}", place=Place(field="NAME"), accepted=ACCEPTED)


class _Names:
    """All names of everything, each with the gangs it may mean."""

    def __init__(self, run: Run, shown: Mapping[str, str]) -> None:
        self._shown = {key: name for name, key in shown.items()}
        self.all: dict[str, set[str]] = {}
        for name, key in shown.items():
            self._enter(name, "", key)
        world = run.engine.world
        for row in world.tasks.declared():
            fact = world.tasks.facts[row]
            if fact is not None and fact.gang:
                self._enter(fact.key, "Pod", fact.gang)
                for kind, owner in _owners(run, fact.namespace, fact.name):
                    self._enter(f"{fact.namespace}/{owner}", kind, fact.gang)

    def _enter(self, name: str, kind: str, key: str) -> None:
        space, _, bare = name.partition("/")
        forms = [name, bare]
        if kind:
            forms += [f"{kind}/{bare}", f"{space}/{kind}/{bare}"]
        for form in forms:
            self.all.setdefault(form, set()).add(key)

    def find(self, name: str) -> set[str]:
        """The gangs that a name may mean: exactly so written, else in any case (`deployment/web`)."""
        if name in self.all:
            own = self._own(name)
            return own or self.all[name]
        folded = name.casefold()
        return set().union(*(keys for form, keys in self.all.items() if form.casefold() == folded))

    def _own(self, name: str) -> set[str]:
        """The gangs that are called exactly so; a gang's own name goes before that of a pod or an owner."""
        return {key for key, shown in self._shown.items() if name in (shown, shown.partition("/")[2])}

    def shown_of(self, key: str) -> str:
        """What a gang is called."""
        return self._shown.get(key, key)


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
