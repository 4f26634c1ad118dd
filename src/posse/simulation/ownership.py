"""Ownership: who belongs to whom, by owner references.

Nothing here trusts that references lead upwards: in a file an object may belong to itself, directly or in a circle.
"""

from collections.abc import Container, Iterable, Mapping

from posse.kube.meta import KubeObject, OwnerReference, group_of
from posse.simulation.identities import Identity, identity_of


def owners_of(thing: KubeObject) -> list[Identity]:
    """Everything that an object belongs to."""
    return [_identity(reference, thing) for reference in thing.metadata.owner_references]


def controller_of(thing: KubeObject) -> Identity | None:
    """Who looks after an object."""
    reference = thing.controller
    return None if reference is None else _identity(reference, thing)


def controlled_by(owner: Identity, objects: Mapping[Identity, KubeObject]) -> list[Identity]:
    """Everything that an owner made, or that something made that it made."""
    found = {owner: None}
    todo = [owner]
    while todo:
        above = todo.pop(0)
        below = [each for each, thing in objects.items() if controller_of(thing) == above and each not in found]
        found |= dict.fromkeys(below)
        todo += below
    return list(found)[1:]


def collected_with(owner: Identity, objects: Mapping[Identity, KubeObject]) -> list[Identity]:
    """What goes when an object is gone: everything that belongs to it, and to nobody else who is there."""
    gone = {owner: None}
    while True:
        more = [each for each, thing in objects.items() if each not in gone and _is_orphan(thing, gone, objects)]
        if not more:
            return list(gone)[1:]
        gone |= dict.fromkeys(more)


def _is_orphan(thing: KubeObject, gone: Container[Identity], objects: Container[Identity]) -> bool:
    above = owners_of(thing) if thing.metadata.owner_references else ()
    return any(each in gone for each in above) and not any(each in objects and each not in gone for each in above)


def in_circles(things: Iterable[KubeObject]) -> set[Identity]:
    """Which of some objects belong to themselves, directly or by way of others of them."""
    above = {identity_of(thing): owners_of(thing) for thing in things}
    return {identity for identity in above if _reaches(identity, above)}


def _reaches(start: Identity, above: Mapping[Identity, list[Identity]]) -> bool:
    """Whether the way up from an object comes back to it."""
    seen: set[Identity] = set()
    todo = list(above[start])
    while todo:
        here = todo.pop()
        if here == start:
            return True
        if here not in seen:
            seen.add(here)
            todo += above.get(here, [])
    return False


def _identity(reference: OwnerReference, thing: KubeObject) -> Identity:
    return group_of(reference.api_version), reference.kind, thing.metadata.namespace, reference.name
