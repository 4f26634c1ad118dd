"""The plugin: eight scores from 0 to 100, each times its weight, added up.

    leastrequested, mostrequested, balancedresource    how full the node would be
    nodeaffinity                                       preferred nodes
    tainttoleration                                    few taints that would rather keep the pod away
    imagelocality                                      images that need not be pulled
    podaffinity                                        pods that would rather be near, or not, on both sides
    podtopologyspread                                  soft topology spread

All of them are whole numbers; a weight of 0 leaves a score out.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from posse.scheduler.arguments import Argument, weight
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.pod_terms import PodCounts
from posse.scheduler.placement.terms import FixedScore, LiveScore, ResourceRule, ResourceScore, Score
from posse.scheduler.plugin import THE_WORLD, Plugin, Setup
from posse.scheduler.plugins.nodeorder.images import ImageScore
from posse.scheduler.plugins.nodeorder.nodes import disliked_taints, liked_nodes
from posse.scheduler.plugins.nodeorder.pods import PodScore
from posse.scheduler.plugins.nodeorder.spread import SpreadScore

CPU_AND_MEMORY = (("cpu", 1), ("memory", 1))
WITH_GPUS = (*CPU_AND_MEMORY, ("nvidia.com/gpu", 1))


def _weight(name: str, default: int, what: str) -> Argument:
    return weight(f"{name}.weight", default, f"Weight of the score: {what}.")


class NodeOrderPlugin(Plugin):
    """Prefer nodes by Kubernetes' scores."""

    name: ClassVar[str] = "nodeorder"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    arguments: ClassVar[tuple[Argument, ...]] = (
        _weight("leastrequested", 1, "free nodes first"),
        _weight("mostrequested", 0, "full nodes first"),
        _weight("balancedresource", 1, "cpu, memory and GPUs used evenly"),
        _weight("nodeaffinity", 2, "nodes that the pod prefers"),
        _weight("podaffinity", 2, "pods that would rather be near each other, or not"),
        _weight("tainttoleration", 3, "nodes without taints that would rather keep the pod away"),
        _weight("imagelocality", 1, "nodes that have the pod's images"),
        _weight("podtopologyspread", 2, "even topology spread, where it is not a must"),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        given = setup.arguments.get_int
        self._weights = {each.name.removesuffix(".weight"): given(each.name) for each in self.arguments}
        counts = PodCounts(self.world)
        self._traits = NodeTraits(self.world)
        self._images = ImageScore(self.world)
        self._pods = PodScore(self.world, self._traits, counts)
        self._spread = SpreadScore(self.world, self._traits, counts)

    def scores(self, shape: int) -> Sequence[Score]:
        """Give nodes points for a shape, all at once."""
        weights, asked, found = self._weights, self.world.shapes[shape], list[Score]()
        if weights["imagelocality"] and asked.images:
            found.append(FixedScore(self._images.points(asked.images) * float(weights["imagelocality"])))
        for name, rule, resources in (
            ("leastrequested", ResourceRule.LEAST, CPU_AND_MEMORY),
            ("mostrequested", ResourceRule.MOST, CPU_AND_MEMORY),
            ("balancedresource", ResourceRule.BALANCED, WITH_GPUS),
        ):
            if weights[name]:
                found.append(ResourceScore(rule, resources, weights[name]))
        if weights["nodeaffinity"] and asked.preferred_nodes:
            found.append(liked_nodes(self._traits, asked.preferred_nodes, weights["nodeaffinity"]))
        if weights["tainttoleration"]:
            found.append(disliked_taints(self._traits, asked.tolerations, weights["tainttoleration"]))
        if weights["podaffinity"]:
            points = partial(self._pods.points, asked, weights["podaffinity"])
            found.append(LiveScore(points, partial(self._pods.concerns, asked)))
        soft = tuple(each for each in asked.spread if not each.hard)
        if weights["podtopologyspread"] and soft:
            fields = self._spread.fields(asked, soft)
            found.append(LiveScore(partial(self._spread.points, fields, weights["podtopologyspread"])))
        return found
