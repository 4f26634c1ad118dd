"""A filter in three lines: keep pods off nodes that will be serviced soon.

`node_filter` is asked about one pod and one node. A text refuses the node, and is what people read when they ask why;
None lets it pass.
"""

from posse.cluster.views import Node, Task
from posse.scheduler.plugin import Plugin


class MaintenancePlugin(Plugin):
    """Keep pods off nodes that will be serviced soon."""

    name = "maintenance"

    def node_filter(self, task: Task, node: Node) -> str | None:
        return "node will be serviced soon" if "example.com/service" in node.fact.labels else None
