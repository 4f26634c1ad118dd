"""The configuration of a scheduler: one immutable value made from one text in Volcano's `scheduler.conf` grammar.

    text ──conf_yaml──▶ tree with lines ──conf_settings──▶ compatibility ──conf_tiers, conf_settings──▶ Configuration

A text either becomes a whole `Configuration` or an `InputError` that names line and key; nothing is half-applied. A
file stands alone: what it does not say has its default, never what an earlier file said. Which mistakes are refused
and which are passed over is the switch `conf-unknown`, so the file's own compatibility is read before anything else.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from posse.errors import InputError
from posse.scheduler.arguments import Argument, Arguments, Report, refuse
from posse.scheduler.conf_parts import READ_SETTINGS, ActionSpec, Catalog, Package, PluginOption, PluginSpec, Setting
from posse.scheduler.conf_settings import (
    SCHEDULE_PERIOD,
    read_action_arguments,
    read_compatibility,
    read_metrics,
    read_packages,
    read_schedule_period,
    read_settings,
)
from posse.scheduler.conf_spot import Page, Spot, check_known, check_once, open_page
from posse.scheduler.conf_tiers import Terms, Tier, read_actions, read_tiers
from posse.scheduler.switches import Compatibility, Side

__all__ = [
    "DEFAULT_CONF",
    "ActionSpec",
    "Argument",
    "Arguments",
    "Compatibility",
    "Configuration",
    "Package",
    "PluginOption",
    "PluginSpec",
    "Setting",
    "load",
    "packages_named_in",
    "reload",
]

DEFAULT_CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""

TOP_KEYS = ("actions", "tiers", "configurations", "metrics", "plugins", "schedule-period")


class Configuration(Struct, frozen=True, kw_only=True):
    """What a scheduler is told to do. `source` is the text in force; `warnings` is what its author should hear of."""

    actions: tuple[str, ...]
    tiers: tuple[Tier, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    action_arguments: Mapping[str, Arguments] = field(default_factory=dict)
    compatibility: Compatibility = Compatibility()
    metrics: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[Package, ...] = ()
    schedule_period: int = SCHEDULE_PERIOD
    warnings: tuple[str, ...] = ()
    source: str = ""
    file: str = ""

    def arguments_for(self, action: str) -> Arguments:
        """The arguments of an action."""
        return self.action_arguments[action]

    def setting(self, name: str, declared: tuple[Argument, ...]) -> Arguments:
        """The entry of this name in `configurations`, read as its owner declares it; all defaults if there is none."""
        return self.settings.get(name, Setting(name)).read(declared, self.compatibility)


def load(
    text: str,
    *,
    registry: Mapping[str, PluginSpec],
    actions: Mapping[str, ActionSpec],
    file: str = "",
    mode: Side | None = None,
) -> Configuration:
    """Read a configuration. If `conf-unknown` stands at upstream, an invalid text leaves the built-in default in force.

    `file` is what messages call the text. `mode` is the compatibility asked for from outside (a flag, a batch line);
    None leaves it to the text.
    """
    catalog = Catalog(registry, actions)
    try:
        configuration = _read(text, catalog, file, mode)
    except InputError as error:
        compatibility = _compatibility_of(text, file, mode)
        if compatibility.side("conf-unknown") == "posse":
            raise
        default = _read_page(open_page(DEFAULT_CONF), compatibility, catalog, refuse)
        warning = f"{error}; the built-in default configuration is in force"
        configuration = replace(default, source=DEFAULT_CONF, warnings=(warning,))
    _require_built(configuration, catalog)
    return configuration


def reload(
    current: Configuration,
    text: str,
    *,
    registry: Mapping[str, PluginSpec],
    actions: Mapping[str, ActionSpec],
    file: str = "",
    mode: Side | None = None,
) -> tuple[Configuration, InputError | None]:
    """Read a changed text: the new configuration, standing alone; or, if it is refused, the current one and why."""
    catalog = Catalog(registry, actions)
    try:
        configuration = _read(text, catalog, file, mode)
        _require_built(configuration, catalog)
    except InputError as error:
        return current, error
    return configuration, None


def packages_named_in(text: str, *, file: str = "") -> tuple[Package, ...]:
    """Read only the key `plugins`: its packages must be imported before `load` can know their plugins."""
    try:
        return read_packages(open_page(text, file).top.get("plugins"))
    except InputError:
        return ()


def _read(text: str, catalog: Catalog, file: str, mode: Side | None) -> Configuration:
    page = open_page(text, file)
    compatibility = read_compatibility(page.top, mode)
    notes: list[InputError] = []
    strict = compatibility.side("conf-unknown") == "posse"
    configuration = _read_page(page, compatibility, catalog, refuse if strict else notes.append)
    warnings = (*(f"{note}; passed over" for note in notes), *configuration.warnings)
    return replace(configuration, source=text, file=file, warnings=warnings)


def _read_page(page: Page, compatibility: Compatibility, catalog: Catalog, report: Report) -> Configuration:
    top, terms = page.top, Terms(catalog, compatibility, report)
    if page.second:
        place = replace(top.place, line=page.second)
        report(InputError("a second YAML document begins", place=place, accepted="one document"))
    check_known(top, TOP_KEYS, report)
    check_once(top, report)
    settings, tiers = read_settings(top.get("configurations"), terms), read_tiers(top.get("tiers"), terms)
    return Configuration(
        actions=read_actions(top.get("actions"), catalog),
        tiers=tiers,
        settings=settings,
        action_arguments=read_action_arguments(settings, terms),
        compatibility=compatibility,
        metrics=read_metrics(top.get("metrics"), report),
        packages=read_packages(top.get("plugins")),
        schedule_period=read_schedule_period(top.get("schedule-period")),
        warnings=(*_idle_plugins(top, tiers), *_idle_settings(settings, catalog)),
    )


def _idle_plugins(top: Spot, tiers: tuple[Tier, ...]) -> Iterator[str]:
    """What stands under tiers, or is missing there, without effect and without being wrong."""
    if not any(tiers):
        yield f"{top.get('tiers').place}: no plugin is named, so none takes part"
    for tier in tiers:
        for number, option in enumerate(tier):
            if option.name in {earlier.name for earlier in tier[:number]}:
                yield f"{option.place}: the plugin {option.name} stands in this tier a second time; it is asked twice"


def _idle_settings(settings: Mapping[str, Setting], catalog: Catalog) -> Iterator[str]:
    """Entries that nobody reads, or not there."""
    for setting in settings.values():
        if setting.name in catalog.plugins:
            yield f"{setting.place}: no effect; the arguments of plugin {setting.name} stand with it under tiers"
        elif setting.name not in catalog.actions and setting.name not in READ_SETTINGS:
            yield f"{setting.place}: no effect; the entry {setting.name} is not read yet"


def _compatibility_of(text: str, file: str, mode: Side | None) -> Compatibility:
    """Which sides hold for a text that may be no YAML at all."""
    try:
        page = open_page(text, file)
    except InputError:
        return Compatibility(mode or "posse")
    return read_compatibility(page.top, mode)


def _require_built(configuration: Configuration, catalog: Catalog) -> None:
    """Refuse what Volcano has and Posse has not, whatever the compatibility: its work cannot be pretended."""
    for name in configuration.actions:
        if name not in catalog.actions:
            spot = open_page(configuration.source, configuration.file).top.get("actions")
            raise spot.error(f"the action {name} is not built into Posse yet", ", ".join(sorted(catalog.actions)))
    for option in (option for tier in configuration.tiers for option in tier):
        if option.name not in catalog.plugins:
            message = f"the plugin {option.name} is not built into Posse yet"
            raise InputError(message, place=option.place, accepted=", ".join(sorted(catalog.plugins)))
