"""Raise a quota: more of what a gang's queue may have.

A capability is raised by exactly what is lacking, a weight by the smallest whole number; if that is not enough, by
more, and the smallest raise that works is proven like every other number.
"""

import copy
from typing import Any

from posse.whatif import amounts, edits
from posse.whatif.explanation import Change, Manifest, Remedy
from posse.whatif.search import Search

BY_QUEUE = ("queue", "admission", "quota")
"""Kinds of blockers that a queue's figures may be behind."""
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
    """Raise capability, and deserved where the queue has one, by units of what one member asks for."""
    fact = search.gang.queue.fact
    remedies: list[Remedy] = []
    for field in ("capability", "deserved"):
        figures = dict(getattr(fact, field))
        short = _short(search, figures)
        if not short:
            continue
        steps = {name: _step(search, name) for name in short}

        def raised(
            count: int, field: str = field, short: dict[str, int] = short, steps: dict[str, int] = steps
        ) -> Change:
            figures = dict(getattr(fact, field))
            first = {name: short[name] + (count - 1) * steps[name] for name in short}
            return Change((_with_figures(manifest, field, {name: figures[name] + first[name] for name in short}),))

        count = search.least(raised, 1, 16)
        if count is None:
            search.tried.append(f"a higher {field} of queue {fact.name}")
            continue
        new = raised(count).patch[0]["spec"][field]
        words = ", ".join(f"{new[name]} {name} instead of {amounts.text(name, figures[name])}" for name in short)
        remedies.append(
            Remedy(action="raise-quota", message=f"{field} of queue {fact.name}: {words}", patch=raised(count).patch)
        )
    return remedies


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


def _with_figures(manifest: Manifest, field: str, figures: dict[str, int]) -> Manifest:
    given: dict[str, Any] = copy.deepcopy(manifest.get("spec", {}).get(field, {}))
    return edits.with_spec(
        manifest, **{field: {**given, **{name: amounts.text(name, value) for name, value in figures.items()}}}
    )


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
