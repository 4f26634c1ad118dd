"""A small catalog of actions and plugins for configurations to name."""

from posse.scheduler.arguments import Argument
from posse.scheduler.configuration import ActionSpec, Configuration, PluginSpec, load

CACHE = Argument("predicateErrorCacheEnable", "bool", True)
ACTIONS = {
    "enqueue": ActionSpec("enqueue"),
    "allocate": ActionSpec("allocate", arguments=(CACHE,)),
    "backfill": ActionSpec("backfill"),
}
ORDER = Argument(
    "gang.order",
    "str",
    "ready-first",
    choices=("ready-first", "unready-first"),
    switch="gang-order",
    upstream="unready-first",
)
PLUGINS = {
    spec.name: spec
    for spec in (
        PluginSpec("priority"),
        PluginSpec("gang", arguments=(ORDER,)),
        PluginSpec("conformance"),
        PluginSpec("overcommit", arguments=(Argument("overcommit-factor", "float", 1.2),)),
        PluginSpec("drf"),
        PluginSpec("predicates", arguments=(Argument("predicate.NodeAffinityEnable", "bool", True),)),
        PluginSpec("proportion"),
        PluginSpec(
            "nodeorder",
            arguments=(
                Argument("leastrequested.weight", "int", 1, minimum=0),
                Argument("mostrequested.weight", "int", 0, minimum=0),
            ),
        ),
    )
}


def configured(text: str) -> Configuration:
    return load(text, registry=PLUGINS, actions=ACTIONS)


def plugins_of(configuration: Configuration) -> list[list[str]]:
    return [[option.name for option in tier] for tier in configuration.tiers]
