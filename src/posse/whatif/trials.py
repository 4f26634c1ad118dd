"""Trials, remembered: a change is tried once, and whoever asks about it next is answered from that trial.

Who starts with a change does not depend on who asks, and gangs that wait in one line ask much the same: what if nothing
is done, what if their queue weighs more, what with seven more nodes. A trial goes on until the gang that is asked about
has its minimum; if one asks later that had not got there by then, the trial is run again.

A plugin that raises in a trial has shown nothing: whoever has not started by then does not start with this change.
"""

import msgspec
from msgspec import Struct

from posse.errors import InputError
from posse.scheduler.blame import blamed
from posse.whatif.explanation import Change
from posse.whatif.situation import Situation, Trial


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
            trial.starts(gang)
        except Exception as fault:
            self._note(fault, trial)
            return Course(frozenset(trial.started), is_over=True)
        finally:
            trial.close()
        return Course(frozenset(trial.started), trial.is_over)

    def _note(self, fault: Exception, trial: Trial) -> None:
        """Remember what a plugin raised; what anybody else did goes on."""
        blame = blamed(fault, trial.engine.tiers.plugins)
        if not isinstance(blame, InputError):
            raise fault
        self.faults[str(blame)] = None
