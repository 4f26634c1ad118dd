"""Trials, remembered: a change is tried once, and whoever asks about it next is answered from that trial.

Who starts with a change does not depend on who asks, and gangs that wait in one line ask much the same: what if nothing
is done, what if their queue weighs more, what with seven more nodes. A trial goes on until the gang that is asked about
has its minimum; if one asks later that had not got there by then, the trial is run again.

A plugin that raises in a trial has shown nothing: whoever has not started by then does not start with this change.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Struct

from posse.errors import InputError
from posse.scheduler.blame import blamed
from posse.scheduler.engine import Engine
from posse.whatif.explanation import Change
from posse.whatif.situation import Situation

Answer = TypeVar("Answer")


class Course(Struct, frozen=True):
    """How a trial went: who started, and whether that is all who will."""

    started: frozenset[str]
    is_over: bool


class Trials:
    """The trials of one situation."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._courses: dict[bytes, Course] = {}
        self.faults: dict[str, None] = {}
        """What plugins raised in trials, each once."""

    def starts(self, change: Change, gang: str) -> bool:
        """Whether a gang starts with a change."""
        name = msgspec.json.encode(change)
        course = self._courses.get(name)
        if course is None or not (course.is_over or gang in course.started):
            course = self._courses[name] = self._run(change, gang)
        return gang in course.started

    def _run(self, change: Change, gang: str) -> Course:
        trial = self._situation.trial(change)
        try:
            went_through = self.asked(trial.engine, lambda: trial.starts(gang) or True, otherwise=False)
            return Course(frozenset(trial.started), trial.is_over or not went_through)
        finally:
            trial.close()

    def asked(self, engine: Engine, ask: Callable[[], Answer], otherwise: Answer) -> Answer:
        """The answer to something that plugins have a say in; if one of them raises, that is noted."""
        try:
            return ask()
        except Exception as fault:
            blame = blamed(fault, engine.tiers.plugins)
            if not isinstance(blame, InputError):
                raise
            self.faults[str(blame)] = None
            return otherwise
