"""Add nodes: as many as it takes of one kind that the cluster has.

Nodes are of one kind if they have the same room, labels (their own name aside) and taints. What a node of a kind would
give is not worked out but looked up: one is added to a copy, with the daemons that every new node gets, and then it is
seen whether it would take the missing members and how many. From that follow a number below which it is never enough,
and one that should be, with all who are ahead in line; whole cycles prove the smallest.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.facts import Amounts, NodeFact
from posse.cluster.ordering import natural
from posse.cluster.world import World
from posse.whatif import amounts, counting
from posse.whatif.explanation import Change, Manifest, Remedy
from posse.whatif.fitting import fitting
from posse.whatif.search import Search
from posse.whatif.situation import Trial

HOSTNAME = "kubernetes.io/hostname"
OWN_STATE = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints that say how one node fares at the moment; a new one does not begin with them."""
MOST_KINDS = 32
"""How many kinds of nodes are looked at, the smallest first."""
MOST_TRIED = 8
"""How many of those that would do are tried."""
BEYOND = 8
"""How many times the number that should be enough is tried: others compete for new nodes too."""

Room = NDArray[np.int64]


class NodeKind(Struct, frozen=True):
    """A kind of node: one that stands for it, and what it has."""

    example: str
    fact: NodeFact


class Offer(Struct, frozen=True):
    """A node to add, in words and as a manifest."""

    words: str
    manifest: Manifest
    room: Amounts | None = None


class Proposal(Struct, frozen=True):
    """How many nodes to try: fewer than `first` cannot be enough; `likely` are, if all who wait fill them in turn."""

    first: int
    likely: int


def kinds_of(world: World) -> list[NodeKind]:
    """The kinds of nodes that there are, the smallest first."""
    totals = dict(zip(world.dimensions.names, world.columns.traits.node_allocatable.sum(axis=1).tolist(), strict=False))
    alike: dict[object, list[NodeFact]] = {}
    for fact in world.nodes.facts:
        if fact is not None:
            labels = frozenset(pair for pair in fact.labels.items() if pair[0] != HOSTNAME)
            alike.setdefault((fact.allocatable, labels, _lasting(fact)), []).append(fact)
    firsts = (min(facts, key=lambda fact: natural(fact.name)) for facts in alike.values())
    kinds = [NodeKind(fact.name, fact) for fact in firsts]
    return sorted(kinds, key=lambda kind: (_part(kind.fact, totals), natural(kind.example)))


def _lasting(fact: NodeFact) -> tuple[str, ...]:
    return tuple(sorted(str(taint) for taint in fact.taints if not taint.key.startswith(OWN_STATE)))


def _part(fact: NodeFact, totals: dict[str, int]) -> float:
    """How much of the cluster a node is, all resources taken together: what stands for its price."""
    return sum(amount / (totals[name] or 1) for name, amount in fact.allocatable)


def add_nodes(search: Search, kinds: Sequence[NodeKind]) -> list[Remedy]:
    """For each kind of node that would take missing members: the smallest number with which the gang starts.

    If no kind would, the first is tried with what it lacks.
    """
    needed = search.finding.missing or search.finding.placed
    if not needed or len(counting.placeable(search.gang)) < counting.open_places(search.gang):
        return []
    offers = [offer for kind in kinds if (offer := _as_it_is(search, kind)) is not None]
    search.left_out |= len(offers) > MOST_KINDS
    offers = offers[:MOST_KINDS]
    remedies: dict[Amounts | None, Remedy] = {}
    tried = 0
    for offer, proposal in zip(offers, _proposals(search, offers, needed), strict=True):
        if proposal is None or offer.room in remedies:
            continue
        if tried == MOST_TRIED:
            search.left_out = True
            break
        tried += 1
        remedy = _remedy(search, offer, proposal)
        if remedy is not None:
            remedies[offer.room] = remedy
    return list(remedies.values()) or _made_to_fit(search, offers, needed)


def _as_it_is(search: Search, kind: NodeKind) -> Offer | None:
    manifest = search.situation.find("Node", "", kind.example)
    words = f"like {kind.example} ({_in_words(kind.fact)})"
    return Offer(words, manifest, kind.fact.allocatable) if manifest is not None else None


def _made_to_fit(search: Search, offers: list[Offer], needed: tuple[int, ...]) -> list[Remedy]:
    like = offers[0].manifest if offers else None
    offer = Offer(*fitting(search.gang.world, needed, like, _daemons_on(search, like) if like else {}))
    is_new = like is None or copies(offer.manifest, 1) != copies(like, 1)
    proposal = _proposals(search, [offer], needed)[0] if is_new else None
    remedy = _remedy(search, offer, proposal) if proposal is not None else None
    return [remedy] if remedy is not None else []


def _daemons_on(search: Search, like: Manifest) -> dict[str, int]:
    """What the daemons take of a new node."""
    (one,) = copies(like, 1)

    def used(trial: Trial) -> dict[str, int]:
        world = trial.engine.world
        amounts_used = world.columns.ledger.node_used[:, world.nodes.find(one["metadata"]["name"])].tolist()
        return dict(zip(world.dimensions.names, amounts_used, strict=False))

    return search.look(Change((one,)), used, otherwise={})


def _remedy(search: Search, offer: Offer, proposal: Proposal) -> Remedy | None:
    limit = BEYOND * proposal.likely
    count = search.smallest(
        lambda number: Change(copies(offer.manifest, number)), proposal.first, proposal.likely, limit
    )
    if count is None:
        search.tried.append(f"up to {limit} more nodes {offer.words}")
        return None
    more = " more" if search.gang.world.nodes.declared() else ""
    message = f"{count}{more} {'node' if count == 1 else 'nodes'} {offer.words}"
    return Remedy(action="add-nodes", message=message, patch=copies(offer.manifest, count))


def _proposals(search: Search, offers: list[Offer], needed: tuple[int, ...]) -> list[Proposal | None]:
    """How many nodes of each offer to try; None if they would be of no use."""
    ones = [copies(offer.manifest, 1)[0] for offer in offers]
    nothing: list[Proposal | None] = [None] * len(ones)
    return search.look(Change(tuple(ones)), lambda trial: _looked_up(search, trial, ones, needed), otherwise=nothing)


def _looked_up(search: Search, trial: Trial, ones: list[Manifest], needed: tuple[int, ...]) -> list[Proposal | None]:
    engine, world = trial.engine, trial.engine.world
    session = engine.open(search.situation.now)
    for plugin in engine.tiers.plugins:
        plugin.on_open(session)
    feasibility, shape_of = session.chooser.feasibility, world.columns.ledger.task_shape
    shapes = {int(shape_of[task]) for task in (*search.ahead, *needed)}
    passes = {shape: counting.taking(world, feasibility, shape) for shape in shapes}
    room = feasibility.future_idle()
    new = [world.nodes.find(one["metadata"]["name"]) for one in ones]
    old = np.delete(np.arange(len(world.nodes)), new)
    mine = {int(shape_of[task]) for task in needed}
    at_home = {shape for shape in mine if passes[shape][old].any()}
    held = counting.held(world, feasibility, counting.placeable(search.gang))
    lacks = counting.open_places(search.gang) - int(held[old].sum())
    proposals: list[Proposal | None] = []
    for row in new:
        suits = {shape for shape, mask in passes.items() if mask[row]}
        if not suits & mine or mine - suits - at_home or not held[row]:
            proposals.append(None)
            continue
        likely = _packed(
            world, (task for task in (*search.ahead, *needed) if int(shape_of[task]) in suits), room[:, row]
        )
        first = max(1, -(-lacks // int(held[row])))
        proposals.append(Proposal(first, max(first, likely)))
    return proposals


def _packed(world: World, tasks: Iterable[int], room: Room) -> int:
    """How many nodes with this room tasks fill, one after the other."""
    ledger = world.columns.ledger
    nodes, left = 1, room.copy()
    for task in tasks:
        request = ledger.shape_request[ledger.task_shape[task]]
        if (left < request).any():
            nodes, left = nodes + 1, room.copy()
        left -= request
    return nodes


def copies(manifest: Manifest, count: int) -> tuple[Manifest, ...]:
    """New nodes like one that there is: its room, labels and taints, under names of their own."""
    return tuple(_copy(manifest, f"{manifest['metadata']['name']}-more-{number}") for number in range(1, count + 1))


def _copy(manifest: Manifest, name: str) -> Manifest:
    labels = dict(manifest["metadata"].get("labels", {}))
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    given = manifest.get("status", {})
    status = {key: copy.deepcopy(given[key]) for key in ("capacity", "allocatable", "declaredFeatures") if key in given}
    taints = [taint for taint in manifest.get("spec", {}).get("taints", []) if not taint["key"].startswith(OWN_STATE)]
    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
    }
    return {**made, **({"spec": {"taints": copy.deepcopy(taints)}} if taints else {}), "status": status}


def _in_words(fact: NodeFact) -> str:
    """What a node has, in short: devices if it has any, else cpu and memory."""
    devices = [(name, amount) for name, amount in fact.allocatable if "/" in name]
    plain = [(name, amount) for name, amount in fact.allocatable if name in ("cpu", "memory")]
    return ", ".join(f"{amounts.text(name, amount)} {name}" for name, amount in devices or plain)
