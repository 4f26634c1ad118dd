"""The registry: which plugins and actions a configuration may name.

Built-in ones are listed here; others come from installed packages (entry point group `posse.plugins`) or from a path or
import name that the configuration's `plugins` key gives. All of them are classes, described to the configuration by
what they declare.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from msgspec import Struct, structs

from posse.errors import InputError, Place
from posse.scheduler.action import Action
from posse.scheduler.actions.allocate import Allocate
from posse.scheduler.actions.backfill import Backfill
from posse.scheduler.actions.enqueue import Enqueue
from posse.scheduler.answers import guarded
from posse.scheduler.arguments import Argument
from posse.scheduler.conf_parts import ActionSpec, Package, PluginSpec
from posse.scheduler.plugin import ANYTHING, EXTENSION_POINTS, Plugin, Setup
from posse.scheduler.plugins.binpack import BinpackPlugin
from posse.scheduler.plugins.conformance import ConformancePlugin
from posse.scheduler.plugins.drf.plugin import DrfPlugin
from posse.scheduler.plugins.gang import GangPlugin
from posse.scheduler.plugins.nodeorder.plugin import NodeOrderPlugin
from posse.scheduler.plugins.overcommit.plugin import OvercommitPlugin
from posse.scheduler.plugins.predicates.plugin import PredicatesPlugin
from posse.scheduler.plugins.priority import PriorityPlugin
from posse.scheduler.plugins.proportion.plugin import ProportionPlugin

GROUP = "posse.plugins"
PLUGIN = "a subclass of posse.scheduler.plugin.Plugin with a name"

BUILT_IN: tuple[type[Plugin], ...] = (
    BinpackPlugin,
    ConformancePlugin,
    DrfPlugin,
    GangPlugin,
    NodeOrderPlugin,
    OvercommitPlugin,
    PredicatesPlugin,
    PriorityPlugin,
    ProportionPlugin,
)

ACTIONS: tuple[type[Action], ...] = (Enqueue, Allocate, Backfill)


class Registry(Struct, frozen=True):
    """Plugin and action classes by the name under which a configuration knows them."""

    plugins: Mapping[str, type[Plugin]]
    actions: Mapping[str, type[Action]]

    def build(self, name: str, setup: Setup) -> Plugin:
        """Build a plugin. One that does not come with Posse is held to its answers."""
        plugin = self.plugins[name](setup)
        if type(plugin) in BUILT_IN:
            return plugin
        if not hasattr(plugin, "world"):
            raise TypeError("its __init__ does not call super().__init__(setup)")
        return guarded(plugin)

    def plugin_specs(self) -> dict[str, PluginSpec]:
        """What each plugin declares."""
        return {name: spec_of(plugin) for name, plugin in self.plugins.items()}

    def action_specs(self) -> dict[str, ActionSpec]:
        """What each action declares."""
        return {name: ActionSpec(name, summary_of(action), action.arguments) for name, action in self.actions.items()}


def spec_of(plugin: type[Plugin]) -> PluginSpec:
    """What a plugin declares."""
    points = frozenset(point for point in EXTENSION_POINTS if plugin.overrides(point))
    return PluginSpec(plugin.name, summary_of(plugin), plugin.arguments, points)


def summary_of(thing: type) -> str:
    """The first sentence that a class says of itself."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def built_in() -> Registry:
    """What comes with Posse."""
    return Registry({plugin.name: plugin for plugin in BUILT_IN}, {action.name: action for action in ACTIONS})


def installed(packages: Sequence[Package] = (), *, beside: str = "") -> Registry:
    """What comes with Posse, with installed packages, and these (paths from `beside`'s folder, or import names)."""
    found = [*BUILT_IN]
    entries = sorted(entry_points(group=GROUP), key=lambda each: each.name)
    found.extend(_checked(entry.load(), Place(object=f"entry point {entry.name}")) for entry in entries)
    for package in packages:
        found.extend(_plugins_in(_module(package, beside), package))
    plugins: dict[str, type[Plugin]] = {}
    for plugin in found:
        known = plugins.get(plugin.name)
        if known is not None and known is not plugin:
            raise InputError(
                f"two plugins are called {plugin.name!r}",
                place=Place(object=plugin.__qualname__),
                accepted="unique names",
            )
        plugins[plugin.name] = plugin
    return Registry(plugins, built_in().actions)


def _module(package: Package, beside: str) -> ModuleType:
    """Import a package by its path or its name."""
    name, place, accepted = package.name, package.place, "the path of a .py file, or an import name"
    try:
        if not (name.endswith(".py") or "/" in name):
            return importlib.import_module(name)
        path = Path(beside).parent / name
        called = f"posse_plugins_{path.stem}"
        spec = importlib.util.spec_from_file_location(called, path)
        if spec is None or spec.loader is None:
            raise InputError(f"the plugin package {name!r} is not a Python file", place=place, accepted=accepted)
        module = importlib.util.module_from_spec(spec)
        sys.modules[called] = module
        spec.loader.exec_module(module)
        return module
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # what is not ours may fail in any way
        message = f"the plugin package {name!r} cannot be imported: {type(error).__name__}: {error}"
        raise InputError(message, place=place, accepted=accepted) from error


def _plugins_in(module: ModuleType, package: Package) -> Iterable[type[Plugin]]:
    own = [
        _checked(value, package.place)
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Plugin) and value.__module__ == module.__name__ and value.name
    ]
    if not own:
        raise InputError(f"the plugin package {package.name!r} has no plugin", place=package.place, accepted=PLUGIN)
    return own


def _checked(thing: object, place: Place) -> type[Plugin]:
    """A plugin class whose declarations are what they should be."""
    if not (inspect.isclass(thing) and issubclass(thing, Plugin) and thing.name):
        raise InputError("is not a plugin", place=place, accepted=PLUGIN)
    at = structs.replace(place, object=f"plugin class {thing.__qualname__}")
    declared: tuple[tuple[str, bool, str], ...] = (
        ("name", isinstance(thing.name, str), "a text"),
        (
            "arguments",
            isinstance(thing.arguments, tuple) and all(isinstance(each, Argument) for each in thing.arguments),
            "a tuple of Argument",
        ),
        (
            "depends_on",
            isinstance(thing.depends_on, Set) and thing.depends_on <= ANYTHING,
            f"a frozenset of some of {', '.join(sorted(ANYTHING))}",
        ),
    )
    for name, fits, accepted in declared:
        if not fits:
            message = f"its {name} is {getattr(thing, name)!r}"
            raise InputError(message, place=structs.replace(at, field=name), accepted=accepted)
    return thing
