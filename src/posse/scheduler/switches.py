"""Compatibility switches: where Posse and upstream Volcano part ways, and which side is taken.

A switch exists only where someone needs upstream's side: a configuration brought along, or an answer that Volcano
really gave. Each is one row of `SWITCHES`, which the documentation prints. A `Compatibility` says for every switch
which side holds: the side named for that switch, else the mode. It is read once, when a plugin or an action is built,
and picks a rule there.
"""

from typing import Literal

from msgspec import Struct

Side = Literal["posse", "upstream"]

SwitchName = Literal[
    "gang-order",
    "overcommit",
    "running-gang-admission",
    "pipelined-life",
    "conf-unknown",
    "gated-members",
    "lone-pods",
    "sub-groups",
    "waiting-words",
]


class Switch(Struct, frozen=True):
    """One question that Posse and upstream answer differently: both answers, and why Posse has its own."""

    name: SwitchName
    posse: str
    upstream: str
    why: str


SWITCHES: tuple[Switch, ...] = (
    Switch(
        "gang-order",
        posse="A gang that has its minimum goes before one that still needs members.",
        upstream="A gang that still needs members goes before one that has its minimum.",
        why="Work that started gets what it asked for; `gang.order` of the plugin `gang` sets it alone.",
    ),
    Switch(
        "overcommit",
        posse="A factor below 1.0 counts as 1.0, with a warning, and bound pods of an admitted gang are charged once.",
        upstream="A factor below 1.0 counts as 1.2, and bound pods of an admitted gang are charged twice.",
        why="The cluster's own size is the least to admit to, and nothing uses its room twice.",
    ),
    Switch(
        "running-gang-admission",
        posse="A running gang that fell below its minimum stays admitted and goes before fresh gangs of its priority.",
        upstream="A running gang that fell below its minimum is pending again and has to be admitted anew.",
        why="A gang that lost a member must not be stranded behind those who have not begun.",
    ),
    Switch(
        "pipelined-life",
        posse="A promise of room that is being freed lives on over cycles, with an owner and a deadline.",
        upstream="A promise of room that is being freed ends with the cycle that made it.",
        why="Room that was emptied for a gang must not go to whoever asks first in the next cycle.",
    ),
    Switch(
        "conf-unknown",
        posse="A file with anything unknown or invalid is refused, naming line and key; the previous one stays.",
        upstream="Unknown plugins, keys and flags are ignored; an invalid file leaves the built-in default in force.",
        why="A slip of the pen must not switch a policy off.",
    ),
    Switch(
        "gated-members",
        posse="A member behind a scheduling gate never counts towards a minimum.",
        upstream="A gated member counts as one that could run, and as ready if it asks for nothing.",
        why="Nobody may be bound for the sake of a pod that nobody may place.",
    ),
    Switch(
        "lone-pods",
        posse="A pod of Volcano's scheduler without a PodGroup is a gang of one in its queue.",
        upstream="A pod without a PodGroup only takes room: it waits until Volcano's controller has made it one.",
        why="Here nobody else has to make a group for a pod that is its own.",
    ),
    Switch(
        "sub-groups",
        posse="A sub-group policy with a selector and no keys makes one sub-group of all pods that it selects.",
        upstream="A sub-group policy without keys is ignored.",
        why="What was written is meant.",
    ),
    Switch(
        "waiting-words",
        posse="A waiting pod is `Unschedulable` only where nodes would help, and `GangWaiting` otherwise.",
        upstream="A waiting pod is `Unschedulable`, or `Schedulable` if it had found a node while its gang had not.",
        why="Autoscalers act on this word, and must not buy nodes that cannot help.",
    ),
)


class Compatibility(Struct, frozen=True):
    """Which side holds where Posse and upstream differ. A switch that is named beats the mode."""

    mode: Side = "posse"
    overrides: tuple[tuple[SwitchName, Side], ...] = ()

    def side(self, switch: SwitchName) -> Side:
        """Which side holds for this switch."""
        return self.named(switch) or self.mode

    def named(self, switch: SwitchName) -> Side | None:
        """Which side was named for this very switch, if any."""
        return next((side for name, side in self.overrides if name == switch), None)


POSSE = Compatibility()
"""Posse's own side everywhere."""

UPSTREAM = Compatibility("upstream")
"""Upstream's side everywhere."""
