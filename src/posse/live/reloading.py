"""Reloading: a changed configuration file comes into force between two cycles, whole or not at all.

The file is looked at once a period, for it may be a mounted ConfigMap whose links are swapped, and on SIGHUP it is read
whatever it looks like. What cannot be taken is said once and changes nothing: the configuration in force stays, and so
it does if the new plugins cannot be built. The world stays either way; plugins begin anew.

Objects were read from the beginning on as the switches of `Customs` said, so these need a restart.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from posse.dialects.customs import Customs
from posse.errors import InputError, Place
from posse.live.figures import Figures
from posse.live.log import Log
from posse.live.loop import NANOSECONDS
from posse.scheduler.configuration import Configuration, packages_named_in, reload
from posse.scheduler.engine import Engine
from posse.scheduler.registry import Registry, installed
from posse.scheduler.switches import Side

Print = tuple[int, int, int] | None
"""What a file looks like from outside: when it was written, how long it is, which one it is. None: it is not there."""


class Source(Struct, frozen=True):
    """Where a configuration comes from, and the mode that beats the file's."""

    file: str
    mode: Side | None = None


class Reloading:
    """Keeps an engine in step with a file. `wake` is called when there is something new to decide by."""

    def __init__(self, source: Source, engine: Engine, log: Log, figures: Figures, wake: Callable[[], None]) -> None:
        self._source, self._engine, self._log, self._figures, self._wake = source, engine, log, figures, wake
        self._print = fingerprint(source.file)

    async def run(self, asked: asyncio.Event) -> None:
        """Keep in step, for ever; when asked to, read the file again whatever it looks like."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._engine.configuration.schedule_period / NANOSECONDS):
                    await asked.wait()
            is_asked = asked.is_set()
            asked.clear()
            self.look(asked=is_asked)

    def look(self, *, asked: bool = False) -> None:
        """Take the file if it has changed, or if somebody asked for that."""
        seen = fingerprint(self._source.file)
        if seen == self._print and not asked:
            return
        self._print = seen
        try:
            text = text_of(self._source.file)
            if asked or self._figures.config_refused or text != self._engine.configuration.source:
                self._take(text)
        except InputError as fault:
            self._figures.config_refused = True
            self._figures.reloads["refused"] += 1
            self._log.error("configuration refused, the old one stays", file=self._source.file, why=str(fault))

    def _take(self, text: str) -> None:
        """Put a text in force, or raise and leave everything as it is."""
        file, engine = self._source.file, self._engine
        registry = installed(packages_named_in(text, file=file), beside=file)
        plugins, actions = registry.plugin_specs(), registry.action_specs()
        configuration, fault = reload(
            engine.configuration, text, registry=plugins, actions=actions, file=file, mode=self._source.mode
        )
        if fault is not None:
            raise fault
        if Customs.under(configuration.compatibility.side) != Customs.under(engine.configuration.compatibility.side):
            message = "how objects are read (gated-members, lone-pods, sub-groups) cannot change while it runs"
            raise InputError(message, place=Place(file=file), accepted="the same sides as before, or a restart")
        put_in_force(engine, configuration, registry)
        self._figures.config_refused = False
        self._figures.reloads["taken"] += 1
        self._log.info("configuration taken", file=file, **described(configuration))
        for warning in engine.warnings:
            self._log.warning("configuration", warning=warning)
        self._wake()


def put_in_force(engine: Engine, configuration: Configuration, registry: Registry) -> None:
    """Configure an engine anew; if that fails, as it was."""
    before, known = engine.configuration, engine.registry
    try:
        engine.registry = registry
        engine.configure(configuration)
    except InputError:
        engine.registry = known
        engine.configure(before)
        raise


def described(configuration: Configuration) -> dict[str, str]:
    """What a configuration comes to, in a few words."""
    plugins = (option.name for tier in configuration.tiers for option in tier)
    return {"actions": ",".join(configuration.actions), "plugins": ",".join(plugins)}


def fingerprint(file: str) -> Print:
    """What a file looks like."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def text_of(file: str) -> str:
    """Read a file."""
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"cannot be read: {fault}", place=Place(file=file)) from None
