"""Places: where in the input objects stood, for faults that show only when they are admitted or translated.

By then an object is a value and no longer part of a document. Errors name it (`Pod ns/name`), and by this name its
place is found. What a controller makes stands where its owner does.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from posse.errors import InputError, Place
from posse.kube.manifests import found_at
from posse.kube.meta import DEFAULT_NAMESPACE, KubeObject

NOWHERE = Place()


class Places:
    """The places of objects that are taken in together."""

    def __init__(self) -> None:
        self._known: dict[str, Place] = {}

    def learn(self, thing: KubeObject, place: Place) -> None:
        """Remember where an object stood."""
        if place != NOWHERE:
            self._known[_called(thing)] = place

    def inherit(self, made: Iterable[KubeObject]) -> None:
        """Let what controllers made stand where their owners do."""
        for thing in made:
            owner = thing.controller
            if owner is not None:
                place = self._known.get(f"{owner.kind} {thing.metadata.namespace}/{owner.name}", NOWHERE)
                self.learn(thing, place)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let errors about an object say where it stood."""
        try:
            yield
        except InputError as fault:
            with found_at(self._known.get(fault.place.object, fault.place)):
                raise


def _called(thing: KubeObject) -> str:
    """What errors call an object once it is admitted; one that has no name yet they call by its kind."""
    meta = thing.metadata
    if not meta.name:
        return thing.kind_name
    namespace = (meta.namespace or DEFAULT_NAMESPACE) if thing.NAMESPACED else ""
    return f"{thing.kind_name} {namespace}/{meta.name}" if namespace else f"{thing.kind_name} {meta.name}"
