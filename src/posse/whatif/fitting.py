"""A node made to fit: what a gang would need of a node, where no node of the cluster is of any use to it.

It begins as a copy of one that there is, or as nothing, and gets the labels that the members select by and the room
that the largest of them asks for; taints that they do not bear are left away.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from posse.cluster.facts import Shape, Taint, Toleration
from posse.cluster.world import World
from posse.whatif import amounts
from posse.whatif.explanation import Manifest

PODS = "110"
"""How many pods a node made up from nothing takes."""


def fitting(
    world: World, tasks: Iterable[int], like: Manifest | None, beside: Mapping[str, int]
) -> tuple[str, Manifest]:
    """A node that would take any of these tasks beside what is on every node, in words and as a manifest."""
    shapes = [world.shapes[row] for row in dict.fromkeys(world.columns.ledger.task_shape[list(tasks)].tolist())]
    base: Manifest = (
        copy.deepcopy(like) if like else {"metadata": {"name": "node"}, "status": {"allocatable": {"pods": PODS}}}
    )
    labels, room = _labels(shapes), _room(shapes)
    has = _allocatable(world, base)
    room = {name: amount + beside.get(name, 0) for name, amount in room.items()}
    more = {name: amount for name, amount in room.items() if has.get(name, 0) < amount}
    base["metadata"]["labels"] = {**base["metadata"].get("labels", {}), **labels}
    status = base.setdefault("status", {})
    status["allocatable"] = {**(status.get("allocatable") or status.get("capacity") or {}), **_quantities(more)}
    spec = base.get("spec", {})
    given = spec.get("taints", [])
    spec["taints"] = [taint for taint in given if all(_is_borne(taint, shape) for shape in shapes)]
    base["spec"] = spec
    parts = [f"with the label {key}={value}" for key, value in sorted(labels.items())]
    parts += [f"with {text} {name}" for name, text in _quantities(more).items()]
    parts += [f"without the taint {taint['key']}" for taint in given if taint not in spec["taints"]]
    return _in_words(like, parts), base


def _in_words(like: Manifest | None, parts: list[str]) -> str:
    """What there is like it, and what differs; there may be nothing like it, and nothing that differs."""
    if like is None:
        return ", ".join(parts) or "of any kind"
    return f"like {like['metadata']['name']}" + (f", but {', '.join(parts)}" if parts else "")


def _labels(shapes: Iterable[Shape]) -> dict[str, str]:
    """Labels that selectors and the first of the required terms ask for by a value."""
    labels: dict[str, str] = {}
    for shape in shapes:
        asked = [*shape.node_selector, *(shape.node_terms[0].expressions if shape.node_terms else ())]
        labels.update((one.key, one.values[0]) for one in asked if one.operator == "In")
    return labels


def _room(shapes: Iterable[Shape]) -> dict[str, int]:
    """The most that any of them asks for."""
    room: dict[str, int] = {}
    for shape in shapes:
        for name, amount in shape.requests:
            room[name] = max(amount, room.get(name, 0))
    return room


def _allocatable(world: World, base: Manifest) -> dict[str, int]:
    row = world.nodes.find(base["metadata"]["name"])
    fact = world.nodes.facts[row] if row >= 0 else None
    return dict(fact.allocatable) if fact is not None else {"pods": int(PODS)}


def _quantities(room: dict[str, int]) -> dict[str, str]:
    return {name: amounts.text(name, amount) for name, amount in sorted(room.items())}


def _is_borne(taint: dict[str, Any], shape: Shape) -> bool:
    mine = Taint(taint["key"], taint.get("value", ""), taint["effect"])
    return any(_bears(one, mine) for one in shape.tolerations)


def _bears(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    return toleration.operator == "Exists" or (toleration.operator == "Equal" and toleration.value == taint.value)
