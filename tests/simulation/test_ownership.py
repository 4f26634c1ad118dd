"""Who belongs to whom, also where references lead in a circle."""

from typing import Any

from posse.kube.meta import KubeObject
from posse.simulation.identities import identity_of
from posse.simulation.ownership import controlled_by, in_circles
from tests.kube.builders import thing


def replica_set(name: str, *, of: str = "") -> KubeObject:
    owner: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": of, "controller": True}
    return thing("apps/v1", "ReplicaSet", name, "default", metadata={"ownerReferences": [owner] if of else []})


def names_below(name: str, *things: KubeObject) -> list[str]:
    objects = {identity_of(each): each for each in things}
    return [each[3] for each in controlled_by(identity_of(replica_set(name)), objects)]


def names_in_circles(*things: KubeObject) -> set[str]:
    return {each[3] for each in in_circles(things)}


def test_what_an_owner_made_counts_with_what_that_made() -> None:
    things = replica_set("a"), replica_set("b", of="a"), replica_set("c", of="b"), replica_set("d")
    assert names_below("a", *things) == ["b", "c"]


def test_a_circle_is_walked_once() -> None:
    assert names_below("a", replica_set("a", of="a")) == []
    assert names_below("a", replica_set("a", of="b"), replica_set("b", of="a")) == ["b"]


def test_only_what_is_part_of_a_circle_is_in_it() -> None:
    things = replica_set("a", of="b"), replica_set("b", of="a"), replica_set("hangs on it", of="a"), replica_set("d")
    assert names_in_circles(*things) == {"a", "b"}
