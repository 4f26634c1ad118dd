"""Reading `actions` and `tiers`: what runs, in which order, and which plugins have a say in it.

Two kinds of fault. What makes the file meaningless (a list where a word belongs, an action that nobody knows) is
raised. What is merely unknown or does not fit goes to the report of the `Terms`, and is left out if that lets the
reading go on. So one reader serves both sides of the switch `conf-unknown`.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from posse.scheduler.arguments import Report, nearest, read_arguments
from posse.scheduler.conf_flags import DEFAULT_FLAGS, Flag, spellings
from posse.scheduler.conf_parts import UPSTREAM_ACTIONS, UPSTREAM_PLUGINS, Catalog, PluginOption
from posse.scheduler.conf_spot import Spot, check_known, check_once
from posse.scheduler.conf_yaml import Items, Scalar
from posse.scheduler.switches import Compatibility

Tier = tuple[PluginOption, ...]


class Terms(Struct, frozen=True):
    """On which terms a file is read: what it may name, which sides hold, and who hears of what does not fit."""

    catalog: Catalog
    compatibility: Compatibility
    report: Report


def read_actions(spot: Spot, catalog: Catalog) -> tuple[str, ...]:
    """Read the names of the actions: one text, exact names between commas."""
    if isinstance(spot.node, Items):
        names = [item.text.strip() for item in spot.node.items if isinstance(item, Scalar)]
        raise spot.error("the actions are one text, not a list", _as_text(names, catalog))
    names = [name.strip() for name in spot.text().split(",")]
    if not any(names):
        raise spot.error("no action is named", _as_text([], catalog))
    known = sorted({*catalog.actions, *UPSTREAM_ACTIONS})
    for name in names:
        if not name:
            raise spot.error("a comma without an action on both sides", _as_text(names, catalog))
        if name not in known:
            raise spot.error(f"unknown action {name!r}{nearest(name, known)}", ", ".join(known))
    return tuple(names)


def read_tiers(spot: Spot, terms: Terms) -> tuple[Tier, ...]:
    """Read the plugins of each tier."""
    tiers = [_read_tier(item, terms) for item in spot.items()]
    arguments = {option.name: option.arguments for tier in tiers for option in tier}
    for option in (option for tier in tiers for option in tier):
        if option.arguments != arguments[option.name]:
            message = f"plugin {option.name} stands in the file again, with other arguments"
            terms.report(Spot(None, option.place).error(message, "the same arguments in each place"))
    return tuple(tuple(replace(option, arguments=arguments[option.name]) for option in tier) for tier in tiers)


def _read_tier(spot: Spot, terms: Terms) -> Tier:
    check_known(spot, ("plugins",), terms.report)
    check_once(spot, terms.report)
    options = [_read_plugin(item, terms) for item in spot.get("plugins").items()]
    hierarchical = any(option.name == "drf" and "hierarchy" in option.flags for option in options)
    if hierarchical and any(option.name == "proportion" for option in options):
        raise spot.error("drf with enableHierarchy and proportion stand in one tier", "one of the two")
    return tuple(
        option for option in options if option.name in terms.catalog.plugins or option.name in UPSTREAM_PLUGINS
    )


def _read_plugin(spot: Spot, terms: Terms) -> PluginOption:
    keys = spellings(terms.compatibility.side("conf-unknown"))
    check_known(spot, ("name", "arguments", *spellings("upstream")), terms.report, besides=keys)
    check_once(spot, terms.report)
    check_once(spot.get("arguments"), terms.report)
    name = spot.get("name").text()
    option = PluginOption(name, _read_flags(spot, keys, terms.report), place=spot.place)
    given = spot.get("arguments").given()
    spec = terms.catalog.plugins.get(name)
    if spec is None:
        _check_plugin(spot.get("name"), name, terms)
        return option
    owner = f"plugin {name}"
    arguments = read_arguments(
        spec.arguments, given, compatibility=terms.compatibility, owner=owner, report=terms.report
    )
    return replace(option, arguments=arguments)


def _check_plugin(spot: Spot, name: str, terms: Terms) -> None:
    """Report a plugin that neither Posse nor Volcano has."""
    if name not in UPSTREAM_PLUGINS:
        plugins = terms.catalog.plugins
        wrong = f"unknown plugin {name!r}{nearest(name, plugins)}" if name else "a plugin without a name"
        terms.report(spot.error(wrong, ", ".join(sorted(plugins))))


def _read_flags(spot: Spot, keys: Mapping[str, Flag], report: Report) -> frozenset[Flag]:
    """The flags that are on: by default, or because the file says so."""
    on = {flag: flag in DEFAULT_FLAGS for flag in keys.values()}
    written: dict[Flag, str] = {}
    for entry in (entry for entry in spot.entries() if entry.key in keys and not entry.is_empty):
        flag, value = keys[entry.key], entry.node.plain() if entry.node else None
        if not isinstance(value, bool):
            raise entry.error(f"{entry.node} is no value of a flag", "true or false, not quoted")
        if flag in written:
            report(entry.error(f"the flag is also given as {written[flag]}", "one of its spellings"))
        on[flag], written[flag] = value, entry.key
    return frozenset(flag for flag, is_on in on.items() if is_on)


def _as_text(names: list[str], catalog: Catalog) -> str:
    """What the line should have been."""
    known = [name for name in names if name in catalog.actions or name in UPSTREAM_ACTIONS]
    return f'actions: "{", ".join(known or ["enqueue", "allocate", "backfill"])}"'
