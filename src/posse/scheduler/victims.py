"""Victims: who may go for whom, from the answers of all plugins.

Two kinds of plugins are asked. *Protectors* (`Plugin.protects`) say who must stay: a gang its minimum, the cluster
its system pods. *Selectors* say who should go: those of lower priority, of greater share. Tiers are asked in order;
within a tier everyone is asked about the same candidates, and who is named by all of them may go.

    a protector's refusal     holds for this tier and all that follow
    a selector names nobody   the question goes to the next tier
    no selector in the tier   whom its protectors leave may go
    nobody is named by all    the tier cannot agree, and nobody goes

So system pods protected in the first tier stay protected, and a priority that finds nobody of lower rank does not
disarm the fair shares of the second.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from posse.cluster.views import Gang, Task
from posse.scheduler.plugin import Plugin
from posse.scheduler.tiers import Tiers

Ask = Callable[[Plugin, Sequence[Task]], Sequence[Task] | None]
"""Put the question to one plugin; None: it has no opinion."""


def victims(
    tiers: Tiers, point: Literal["preemptable", "reclaimable"], asker: Task, candidates: Sequence[Task]
) -> list[Task]:
    """The candidates that may go for a task, in the order given."""
    if point == "preemptable":
        return _named(tiers.preemptable, candidates, lambda plugin, tasks: plugin.preemptable(asker, tasks))
    return _named(tiers.reclaimable, candidates, lambda plugin, tasks: plugin.reclaimable(asker, tasks))


def victims_of_gang(tiers: Tiers, gang: Gang, candidates: Sequence[Task], *, across_queues: bool) -> list[Task]:
    """The candidates that may go for a whole gang, in the order given."""
    return _named(
        tiers.evictable, candidates, lambda plugin, tasks: plugin.evictable(gang, tasks, across_queues=across_queues)
    )


def _named(tiers: Sequence[Sequence[Plugin]], candidates: Sequence[Task], ask: Ask) -> list[Task]:
    """Who may go, by the first tier that says."""
    left = list(candidates)
    for tier in tiers:
        spared, choices, anyone = _answers(tier, left, ask)
        left = [task for task in left if task.row not in spared]
        if not anyone or not all(choices):
            continue
        agreed = [task for task in left if all(task.row in chosen for chosen in choices)]
        if agreed or choices:
            return agreed
    return []


def _answers(tier: Sequence[Plugin], candidates: Sequence[Task], ask: Ask) -> tuple[set[int], list[set[int]], bool]:
    """Whom the protectors of a tier spare, whom each selector chooses (rows), and whether anyone has an opinion."""
    everyone = {task.row for task in candidates}
    spared: set[int] = set()
    choices: list[set[int]] = []
    anyone = False
    for plugin in tier:
        named = ask(plugin, candidates)
        if named is None:
            continue
        anyone = True
        rows = {task.row for task in named}
        if plugin.protects:
            spared |= everyone - rows
        else:
            choices.append(rows)
    return spared, choices, anyone
