"""What a configuration is made of: plugins with their flags and arguments, settings, and what may be named at all.

`PluginSpec` and `ActionSpec` are what the code offers; `PluginOption` and `Setting` are what a file makes of it.
"""

from collections.abc import Mapping

from msgspec import Struct

from posse.errors import Place
from posse.scheduler.arguments import Argument, Arguments, Given, read_arguments, refuse
from posse.scheduler.conf_flags import DEFAULT_FLAGS, Flag
from posse.scheduler.switches import POSSE, Compatibility

UPSTREAM_ACTIONS = frozenset(
    {"allocate", "backfill", "enqueue", "gangpreempt", "gangreclaim", "preempt", "reclaim", "shuffle"}
)
"""The actions that Volcano has. One that is not built in here is refused by name, whatever the compatibility."""

UPSTREAM_PLUGINS = frozenset(
    {
        "binpack",
        "capacity",
        "cdp",
        "conformance",
        "deviceshare",
        "drf",
        "extender",
        "gang",
        "network-topology-aware",
        "nodegroup",
        "nodeorder",
        "numa-aware",
        "overcommit",
        "pdb",
        "predicates",
        "priority",
        "proportion",
        "rescheduling",
        "resource-strategy-fit",
        "resourcequota",
        "sla",
        "task-topology",
        "tdm",
        "usage",
    }
)
"""The plugins that Volcano has, likewise."""

OWN_SETTINGS = frozenset(
    {"compatibility", "coscheduling", "gates", "kai", "koordinator", "native", "plain", "repair", "scheduler"}
)
"""Entries of `configurations` that are neither an action's nor a plugin's."""

READ_SETTINGS = frozenset({"compatibility", "repair"})
"""Those among them that somebody reads already."""


class Package(Struct, frozen=True):
    """A package or file that brings plugins of its own: how it is named, and where the file names it."""

    name: str
    place: Place = Place()


class PluginSpec(Struct, frozen=True):
    """A plugin that can be named: what it does in a sentence, what it can be told, which extension points it has."""

    name: str
    summary: str = ""
    arguments: tuple[Argument, ...] = ()
    points: frozenset[str] = frozenset()


class ActionSpec(Struct, frozen=True):
    """An action that can be named, and what it can be told."""

    name: str
    summary: str = ""
    arguments: tuple[Argument, ...] = ()


class PluginOption(Struct, frozen=True):
    """A plugin as configured: the flags that are on, and its arguments. `place` is where the file names it."""

    name: str
    flags: frozenset[Flag] = DEFAULT_FLAGS
    arguments: Arguments = Arguments()
    place: Place = Place()


class Setting(Struct, frozen=True):
    """An entry of `configurations`, as given. Who owns it reads it with what it declares."""

    name: str
    given: tuple[Given, ...] = ()
    place: Place = Place()

    def read(self, declared: tuple[Argument, ...], compatibility: Compatibility = POSSE) -> Arguments:
        """Read the entry strictly: it is Posse's own, so a slip in it must not pass."""
        owner = f"the entry {self.name}"
        return read_arguments(declared, self.given, compatibility=compatibility, owner=owner, report=refuse)


class Catalog(Struct, frozen=True):
    """All plugins and actions that a file may name, by name."""

    plugins: Mapping[str, PluginSpec]
    actions: Mapping[str, ActionSpec]
