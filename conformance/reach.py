"""Which recorded worlds can be asked at all: those whose configuration names only what Posse has.

Computed from the configuration, never listed, so the reach grows by itself when a plugin or an action is added. Two
rules of the peer matter. It ignores a plugin it does not know, so such a name asks nothing of us. And it answers a
configuration it rejects with its built-in one, so the built-in one is then what must be in reach.
"""

from dataclasses import dataclass

import yaml

from cases import Case
from posse.scheduler.conf_parts import UPSTREAM_PLUGINS


@dataclass(frozen=True)
class Parts:
    """Actions and plugins, by name."""

    actions: frozenset[str]
    plugins: frozenset[str]

    def __le__(self, other: "Parts") -> bool:
        """Tell whether all of these are among the others."""
        return self.actions <= other.actions and self.plugins <= other.plugins


BUILT_IN = Parts(
    actions=frozenset(("enqueue", "allocate", "backfill")),
    plugins=frozenset(
        ["priority", "gang", "conformance", "overcommit", "drf", "predicates", "proportion", "nodeorder"]
    ),
)
"""What the peer runs when it has rejected a configuration."""


def named(conf: str) -> Parts:
    """List what an accepted configuration makes the peer run."""
    content = yaml.safe_load(conf)
    plugins = {plugin["name"] for tier in content.get("tiers") or () for plugin in tier.get("plugins") or ()}
    actions = {action.strip() for action in content["actions"].split(",")}
    return Parts(actions=frozenset(actions), plugins=frozenset(plugins & UPSTREAM_PLUGINS))


def asked(case: Case) -> Parts:
    """List what a scheduler needs to have for this world."""
    return BUILT_IN if "confError" in case.expect else named(case.question["conf"])
