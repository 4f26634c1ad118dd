"""A score: the cheaper node first, by a label that says what an hour costs.

`node_score` gives points to a node for a pod. The points of all plugins are added, so say on which scale yours are:
here 0 to 100, like everybody's, times a weight that the configuration may set.
"""

from posse.cluster.views import Node, Task
from posse.scheduler.arguments import Argument
from posse.scheduler.plugin import Plugin, Setup

PRICE = "example.com/cents-per-hour"


class ThriftPlugin(Plugin):
    """Prefer nodes that cost less."""

    name = "thrift"
    arguments = (
        Argument("thrift.weight", "int", 1, minimum=0, help="Weight of the score."),
        Argument(
            "thrift.dearest", "int", 1000, minimum=1, help="Cents per hour that get no points; a free node gets 100."
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._weight = setup.arguments.get_int("thrift.weight")
        self._dearest = setup.arguments.get_int("thrift.dearest")

    def node_score(self, task: Task, node: Node) -> float:
        price = node.fact.labels.get(PRICE, "")
        cents = min(int(price), self._dearest) if price.isdecimal() else self._dearest
        return self._weight * 100 * (1 - cents / self._dearest)
