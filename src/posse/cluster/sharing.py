"""Sharing: what pods have in common is kept once.

A fact as it comes has a copy of its own of all that it says, though thousands of pods say the same of themselves, and
name the same nodes and gangs. A world has each of these things already; so it keeps an equal fact that is made of them,
and what came is dropped.
"""

from msgspec import structs

from posse.cluster.facts import Shape, TaskFact
from posse.cluster.kin import Kin


def retold(fact: TaskFact, before: TaskFact | None, kin: Kin, shape: Shape, gang: str, node: str) -> TaskFact:
    """The same fact, made of what is there: equal parts of an earlier fact, of its kin, its shape, and known keys.

    Whoever is first to say all that needs no other.
    """
    if before is None and fact.labels is kin.labels and fact.shape is shape:
        return fact
    notes = before.annotations if before is not None and before.annotations == fact.annotations else fact.annotations
    return structs.replace(
        fact, namespace=kin.namespace, labels=kin.labels, annotations=notes, shape=shape, gang=gang, node=node
    )
