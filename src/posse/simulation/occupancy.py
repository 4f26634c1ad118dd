"""Who uses how much of which node, at this moment of a run."""

from posse.cluster.ordering import natural
from posse.cluster.status import OCCUPIES
from posse.cluster.world import World
from posse.simulation.report.picture import Panel

NOT_DEVICES = ("cpu", "memory", "pods", "ephemeral-storage")


def panels_of(world: World) -> list[Panel]:
    """Every node, and which part of what is scarcest on it each gang uses."""
    parts: dict[int, dict[str, float]] = {row: {} for row in world.nodes.declared()}
    ledger = world.columns.ledger
    for task in world.tasks.declared():
        node, gang = int(ledger.task_node[task]), world.gangs.keys[ledger.task_gang[task]]
        if node in parts and OCCUPIES[ledger.task_status[task]]:
            requests = dict(world.shapes[ledger.task_shape[task]].requests)
            resource, total = _measure(world, node)
            parts[node][gang] = parts[node].get(gang, 0.0) + requests.get(resource, 0) / total
    return [
        Panel(world.nodes.keys[node], tuple(sorted(used.items())))
        for node, used in sorted(parts.items(), key=lambda each: natural(world.nodes.keys[each[0]]))
    ]


def _measure(world: World, node: int) -> tuple[str, int]:
    """What a node is measured by, and how much of it there is."""
    fact = world.nodes.facts[node]
    amounts = {name: amount for name, amount in fact.allocatable if amount} if fact else {}
    device = next((name for name in amounts if name not in NOT_DEVICES), "cpu")
    return device, amounts.get(device, 1)
