"""Raise a quota: more of what a gang's queue may have.

A capability is raised by exactly what is lacking, a weight by a whole number; if that is not enough, by more. That one
unit less would not do is proven like every other number.
"""

from typing import Any

from msgspec import Struct

from posse.whatif import amounts, edits
from posse.whatif.explanation import Change, Manifest, Remedy
from posse.whatif.search import Search

BY_QUEUE = ("queue", "admission", "quota")
"""Kinds of blockers that a queue's figures may be behind."""
MOST_STEPS = 16
"""How many times what a member asks for is added to a figure."""
MOST_WEIGHT = 64
"""How many times its weight a queue is tried with."""


def raise_quota(search: Search) -> list[Remedy]:
    """The smallest raises of one figure of the queue with which the gang starts."""
    told = search.verdict.blockers if search.verdict else ()
    queue = search.gang.queue
    if not any(blocker.kind in BY_QUEUE for blocker in told) or not queue.is_declared or queue.fact.state != "Open":
        return []
    manifest = search.situation.find("Queue", "", queue.key)
    if manifest is None:
        return []
    return [*_raised_figures(search, manifest), *_raised_weight(search, manifest)]


def _raised_figures(search: Search, manifest: Manifest) -> list[Remedy]:
    """Raise capability, and deserved where the queue has one."""
    fact = search.gang.queue.fact
    remedies: list[Remedy] = []
    for field in ("capability", "deserved"):
        figures = dict(getattr(fact, field))
        short = _short(search, figures)
        if not short:
            continue
        raised = Raised(manifest, field, figures)
        raises = _enough(search, raised, short)
        if raises is None:
            search.tried.append(f"a higher {field} of queue {fact.name}")
            continue
        words = ", ".join(
            f"{amounts.text(name, figures[name] + by)} {name} instead of {amounts.text(name, figures[name])}"
            for name, by in raises.items()
        )
        message = f"{field} of queue {fact.name}: {words}"
        remedies.append(Remedy(action="raise-quota", message=message, patch=raised(raises).patch))
    return remedies


class Raised(Struct, frozen=True):
    """A queue with raised figures."""

    manifest: Manifest
    field: str
    figures: dict[str, int]

    def __call__(self, raises: dict[str, int]) -> Change:
        """The queue with each figure raised by so much."""
        given: dict[str, Any] = self.manifest.get("spec", {}).get(self.field, {})
        new = {name: amounts.text(name, self.figures[name] + by) for name, by in raises.items()}
        return Change((edits.with_spec(self.manifest, **{self.field: {**given, **new}}),))


def _enough(search: Search, raised: Raised, short: dict[str, int]) -> dict[str, int] | None:
    """By how much figures must be raised: what is lacking, and as much again as a member asks for until it is enough;
    then no figure that need not be raised, and each by no unit more than it takes.
    """
    steps = {name: _step(search, name) for name in short}

    def by(count: int) -> dict[str, int]:
        return {name: short[name] + (count - 1) * steps[name] for name in short}

    count = search.least(lambda count: raised(by(count)), 1, MOST_STEPS)
    if count is None:
        return None
    raises, alone = by(count), len(short) == 1
    for name, amount in list(raises.items()):
        if not alone and search.works(raised({other: raises[other] for other in raises if other != name})):
            del raises[name]
            continue
        raises[name] = _least(search, raised, raises, name, fails=amount - steps[name] if alone and count > 1 else 0)
    return raises


def _least(search: Search, raised: Raised, raises: dict[str, int], name: str, *, fails: int) -> int:
    """By how much one of the figures must be raised at the least, the others being raised as they are."""
    grain = amounts.grain(name)
    works = -(-raises[name] // grain)
    return grain * search.closest(lambda count: raised({**raises, name: grain * count}), fails // grain, works)


def _short(search: Search, figures: dict[str, int]) -> dict[str, int]:
    """By how much each figure is too small for what the queue has and the gang's minimum needs."""
    world = search.gang.world
    queue = (
        world.columns.ledger.queue_allocated[search.gang.queue.row]
        + world.columns.ledger.queue_promised[search.gang.queue.row]
    )
    needs = queue.copy()
    for row in (*search.finding.placed, *search.finding.missing):
        needs += world.columns.ledger.shape_request[world.columns.ledger.task_shape[row]]
    short = {}
    for name, figure in figures.items():
        dimension = world.dimensions.known(name)
        if dimension is not None and needs[dimension] > figure:
            short[name] = int(needs[dimension]) - figure
    return short


def _step(search: Search, name: str) -> int:
    """What one member asks for of a resource."""
    world = search.gang.world
    dimension = world.dimensions.number(name)
    rows = (*search.finding.placed, *search.finding.missing)
    asked = [int(world.columns.ledger.shape_request[world.columns.ledger.task_shape[row], dimension]) for row in rows]
    return max([1, *asked])


def _raised_weight(search: Search, manifest: Manifest) -> list[Remedy]:
    """Raise the queue's weight, where others share with it."""
    world, fact = search.gang.world, search.gang.queue.fact
    if sum(1 for row in world.queues.declared() if world.queues.keys[row] != "root") < 2:
        return []

    def heavier(by: int) -> Change:
        return Change((edits.with_spec(manifest, weight=fact.weight + by),))

    by = search.least(heavier, fact.weight, MOST_WEIGHT * fact.weight)
    if by is None:
        search.tried.append(f"a higher weight of queue {fact.name}")
        return []
    message = f"weight {fact.weight + by} instead of {fact.weight} for queue {fact.name}"
    return [Remedy(action="raise-quota", message=message, patch=heavier(by).patch)]
