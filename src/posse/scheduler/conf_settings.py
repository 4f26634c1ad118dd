"""Reading `configurations` and the smaller keys: arguments of actions, settings of dialects, the compatibility.

An entry is read by whoever owns it: an action's with the arguments that the action declares, a dialect's or
controller's by that dialect or controller. The compatibility is read first and always strictly, because it decides
how the rest is read.
"""

from collections.abc import Mapping

from posse.scheduler.arguments import Argument, Arguments, Report, nearest, read_arguments, refuse
from posse.scheduler.conf_parts import OWN_SETTINGS, UPSTREAM_ACTIONS, UPSTREAM_PLUGINS, Package, Setting
from posse.scheduler.conf_scalars import duration
from posse.scheduler.conf_spot import Spot, check_known, check_once
from posse.scheduler.conf_tiers import Terms
from posse.scheduler.conf_yaml import Items, Scalar, Table
from posse.scheduler.switches import SWITCHES, Compatibility, Side

SCHEDULE_PERIOD = 10**9
"""Nanoseconds between two cycles when the file does not say."""
LONGEST_PERIOD = 8760 * 3600 * 10**9
"""A year of 365 days. A longer one is a slip, and would carry the clock past what a timestamp can hold."""

_SIDES: dict[str, Side] = {"posse": "posse", "upstream": "upstream"}

COMPATIBILITY = (
    Argument("mode", "str", "posse", choices=tuple(_SIDES), help="The side of every switch that is not named."),
    *(Argument(switch.name, "str", choices=tuple(_SIDES), help=switch.posse) for switch in SWITCHES),
)


def read_compatibility(top: Spot, mode: Side | None) -> Compatibility:
    """Read which sides hold. A mode given from outside beats the file's; a switch that the file names beats both."""
    found = [entry for entry in _entries_in(top) if entry.get("name").text() == "compatibility"]
    if len(found) > 1:
        raise found[1].error("a second entry 'compatibility'", "one entry of this name")
    if not found:
        return Compatibility(mode or "posse")
    arguments = _read_entry(found[0], refuse).read(COMPATIBILITY)
    named = [switch.name for switch in SWITCHES if arguments.is_given(switch.name)]
    overrides = tuple((name, _SIDES[arguments.get_str(name)]) for name in named)
    return Compatibility(mode or _SIDES[arguments.get_str("mode")], overrides)


def read_settings(spot: Spot, terms: Terms) -> dict[str, Setting]:
    """Read the entries by name. Of two with one name the first counts, as it does upstream."""
    catalog = terms.catalog
    names = {*OWN_SETTINGS, *catalog.actions, *catalog.plugins, *UPSTREAM_ACTIONS, *UPSTREAM_PLUGINS}
    settings: dict[str, Setting] = {}
    for entry in spot.items():
        setting = _read_entry(entry, terms.report)
        wrong = ""
        if setting.name not in names:
            wrong = f"unknown entry {setting.name!r}{nearest(setting.name, names)}"
        elif setting.name in settings:
            wrong = f"a second entry {setting.name!r}"
        if wrong:
            known = sorted({*OWN_SETTINGS, *catalog.actions})
            terms.report(entry.get("name").error(wrong, f"one entry each for {', '.join(known)}"))
        else:
            settings[setting.name] = setting
    return settings


def read_action_arguments(settings: Mapping[str, Setting], terms: Terms) -> dict[str, Arguments]:
    """Read the arguments of every action there is, from the entries of their names."""
    nothing = Setting("")
    return {
        name: read_arguments(
            spec.arguments,
            settings.get(name, nothing).given,
            compatibility=terms.compatibility,
            owner=f"action {name}",
            report=terms.report,
        )
        for name, spec in sorted(terms.catalog.actions.items())
    }


def read_metrics(spot: Spot, report: Report) -> dict[str, str]:
    """Read where measured load comes from, text by key."""
    check_once(spot, report)
    return {entry.key: entry.text() for entry in spot.entries()}


def read_packages(spot: Spot) -> tuple[Package, ...]:
    """Read the packages and files that bring plugins of their own."""
    return tuple(Package(item.text(), item.place) for item in spot.items())


def read_schedule_period(spot: Spot) -> int:
    """Read the nanoseconds between two cycles."""
    if spot.is_empty:
        return SCHEDULE_PERIOD
    period = duration(spot.text())
    if period is None or period <= 0:
        raise spot.error(f"{spot.node} is no period", "a duration above zero, such as 500ms or 1s")
    if period > LONGEST_PERIOD:
        raise spot.error(f"{spot.node} is too long a period", "a duration of at most 8760h")
    return period


def _read_entry(spot: Spot, report: Report) -> Setting:
    check_known(spot, ("name", "arguments"), report)
    check_once(spot, report)
    check_once(spot.get("arguments"), report)
    return Setting(spot.get("name").text(), tuple(spot.get("arguments").given()), spot.place)


def _entries_in(top: Spot) -> list[Spot]:
    """The entries of `configurations`, as far as the file has that shape; any other shape shows when it is read."""
    if not isinstance(top.node, Table) or not isinstance(top.node.get("configurations"), Items):
        return []
    entries = [entry for entry in top.get("configurations").items() if isinstance(entry.node, Table)]
    return [entry for entry in entries if isinstance(entry.get("name").node, Scalar)]
