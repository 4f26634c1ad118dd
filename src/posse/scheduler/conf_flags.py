"""The flags of a plugin in a configuration: which extension points it may take part in.

Volcano's files spell them unevenly (`enableJobOrder`, `enabledVictim`, `EnabledClusterOrder`). Upstream knows only
the one spelling that it gave each; Posse reads `enableX` and `enabledX` of all. A flag that is not set is on, but for
two.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from posse.scheduler.switches import Side

Flag = Literal[
    "gang_order",
    "gang_ready",
    "gang_pipelined",
    "gang_enqueued",
    "gang_starving",
    "subgroup_order",
    "subgroup_ready",
    "subgroup_pipelined",
    "task_order",
    "queue_order",
    "cluster_order",
    "preemptable",
    "reclaimable",
    "queue_preemptive",
    "overused",
    "allocatable",
    "victims",
    "node_filter",
    "node_score",
    "best_node",
    "target_job",
    "reserved_nodes",
    "hyper_node_order",
    "domains",
    "hierarchy",
]


class FlagSpelling(Struct, frozen=True):
    """How a flag is written upstream, and whether it is on when nobody sets it."""

    flag: Flag
    upstream: str
    default: bool = True


FLAGS: tuple[FlagSpelling, ...] = (
    FlagSpelling("gang_order", "enableJobOrder"),
    FlagSpelling("gang_ready", "enableJobReady"),
    FlagSpelling("gang_pipelined", "enableJobPipelined"),
    FlagSpelling("gang_enqueued", "enableJobEnqueued"),
    FlagSpelling("gang_starving", "enableJobStarving"),
    FlagSpelling("subgroup_order", "enabledSubJobOrder"),
    FlagSpelling("subgroup_ready", "enabledSubJobReady"),
    FlagSpelling("subgroup_pipelined", "enabledSubJobPipelined"),
    FlagSpelling("task_order", "enableTaskOrder"),
    FlagSpelling("queue_order", "enableQueueOrder"),
    FlagSpelling("cluster_order", "EnabledClusterOrder", default=False),
    FlagSpelling("preemptable", "enablePreemptable"),
    FlagSpelling("reclaimable", "enableReclaimable"),
    FlagSpelling("queue_preemptive", "enablePreemptive"),
    FlagSpelling("overused", "enabledOverused"),
    FlagSpelling("allocatable", "enabledAllocatable"),
    FlagSpelling("victims", "enabledVictim"),
    FlagSpelling("node_filter", "enablePredicate"),
    FlagSpelling("node_score", "enableNodeOrder"),
    FlagSpelling("best_node", "enableBestNode"),
    FlagSpelling("target_job", "enableTargetJob"),
    FlagSpelling("reserved_nodes", "enableReservedNodes"),
    FlagSpelling("hyper_node_order", "enabledHyperNodeOrder"),
    FlagSpelling("domains", "enabledHyperNodeGradient"),
    FlagSpelling("hierarchy", "enableHierarchy", default=False),
)

DEFAULT_FLAGS: frozenset[Flag] = frozenset(spelling.flag for spelling in FLAGS if spelling.default)


def spellings(side: Side) -> Mapping[str, Flag]:
    """The keys that set a flag, by side."""
    own = {spelling.upstream: spelling.flag for spelling in FLAGS}
    if side == "upstream":
        return own
    stems = {spelling.upstream[len("enable") :].removeprefix("d"): spelling.flag for spelling in FLAGS}
    both = {prefix + stem: flag for stem, flag in stems.items() for prefix in ("enable", "enabled")}
    return both | own
