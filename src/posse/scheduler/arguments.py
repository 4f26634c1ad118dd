"""Arguments of plugins, actions and settings: declared once, read once, then plain typed values.

Whoever takes arguments declares them (`Argument`: name, kind, default, limits). Reading turns what a file gives into
`Arguments`: every declared argument has a value of its kind, so that no plugin ever asks whether a number is one. What
does not fit is reported to the caller's `Report`: one that raises makes the reading strict; one that takes notes makes
it lenient, and then the default stands, as upstream has it.

A name may end in a part in angle brackets (`binpack.resources.<resource>`): each key that begins so is an argument.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

from posse.errors import InputError, Place
from posse.scheduler.conf_kinds import READERS, WORDING, Kind, in_words
from posse.scheduler.conf_yaml import Value
from posse.scheduler.switches import POSSE, Compatibility, SwitchName

Report = Callable[[InputError], None]
"""Told of each thing that does not fit. It raises it, or takes note of it and lets the reading go on."""

_T = TypeVar("_T")


class Argument(Struct, frozen=True):
    """An argument that may be given, and what is taken when it is not.

    A default of kind `duration` is written as text. Limits hold for numbers, and for the seconds of durations;
    `choices` lists the only texts allowed. `switch` names the compatibility switch that this argument is the other
    handle of; `upstream` is its default on that side.
    """

    name: str
    kind: Kind
    default: Value = None
    minimum: float | None = None
    maximum: float | None = None
    help: str = ""
    choices: tuple[str, ...] = ()
    switch: SwitchName | None = None
    upstream: Value = None

    @property
    def stem(self) -> str:
        """What all keys of a name with a part in angle brackets begin with; empty for a plain name."""
        return self.name.partition("<")[0] if "<" in self.name else ""

    @property
    def accepted(self) -> str:
        """What may be given, in words."""
        if self.choices:
            return " | ".join(self.choices)
        unit = "s" if self.kind == "duration" else ""
        limits = [f"at least {self.minimum:,.15g}{unit}"] if self.minimum is not None else []
        limits += [f"at most {self.maximum:,.15g}{unit}"] if self.maximum is not None else []
        return ", ".join([WORDING[self.kind], *limits])

    def default_under(self, compatibility: Compatibility) -> Value:
        """The value when none is given."""
        other_side = self.switch is not None and compatibility.side(self.switch) == "upstream"
        value = self.upstream if other_side else self.default
        if value is None:
            return None
        read = READERS[self.kind](value)
        if read is None:
            raise TypeError(f"the default of {self.name} is {value!r}, which is no {self.kind}")
        return read


HEAVIEST = 1_000_000


def weight(name: str, default: int | None, purpose: str) -> Argument:
    """A weight of points: bounded, so that points times weights can be added up without rounding."""
    return Argument(name, "int", default, minimum=-HEAVIEST, maximum=HEAVIEST, help=purpose)


class Given(Struct, frozen=True):
    """An argument as it stands in a file, and where."""

    key: str
    value: Value
    place: Place = Place()


class Arguments(Struct, frozen=True):
    """What a plugin or action works with. The getters name the kind that the argument was declared with."""

    values: Mapping[str, Value] = {}
    given: frozenset[str] = frozenset()

    def is_given(self, name: str) -> bool:
        """Whether the file gave this argument, rather than leaving it to its default."""
        return name in self.given

    def get_int(self, name: str) -> int:
        """A whole number."""
        return _as(int, self.values[name])

    def get_float(self, name: str) -> float:
        """A number."""
        return _as(float, self.values[name])

    def get_bool(self, name: str) -> bool:
        """A truth value."""
        return _as(bool, self.values[name])

    def get_str(self, name: str) -> str:
        """A text."""
        return _as(str, self.values[name])

    def get_duration(self, name: str) -> int:
        """A duration in nanoseconds."""
        return _as(int, self.values[name])

    def get_each(self, pattern: str) -> dict[str, Value]:
        """What was given for a name with a part in angle brackets: that part and its value, sorted."""
        stem = pattern.partition("<")[0]
        return {key[len(stem) :]: self.values[key] for key in sorted(self.given) if _goes_under(key, stem)}

    def get_ints(self, pattern: str) -> dict[str, int]:
        """The same, for whole numbers."""
        return {part: _as(int, value) for part, value in self.get_each(pattern).items()}


def refuse(error: InputError) -> None:
    """Be strict: what does not fit ends the reading."""
    raise error


def arguments_of(
    declared: Iterable[Argument],
    values: Mapping[str, Value] | None = None,
    compatibility: Compatibility = POSSE,
) -> Arguments:
    """Arguments from plain values, strictly: for code and tests that have no file."""
    given = [Given(key, value, Place(field=key)) for key, value in (values or {}).items()]
    return read_arguments(declared, given, compatibility=compatibility, owner="", report=refuse)


def read_arguments(
    declared: Iterable[Argument], given: Iterable[Given], *, compatibility: Compatibility, owner: str, report: Report
) -> Arguments:
    """Read what was given against what is declared. `owner` is whose arguments they are ("plugin gang")."""
    specs = tuple(declared)
    values = {spec.name: spec.default_under(compatibility) for spec in specs if not spec.stem}
    taken = set()
    for one in given:
        spec = _spec_for(one.key, specs)
        if spec is None:
            report(_unknown(one, specs, owner))
            continue
        value = READERS[spec.kind](one.value)
        if value is None or (spec.choices and value not in spec.choices):
            report(_misfit(one, spec))
            continue
        _check_limits(one, spec, value, report)
        _check_switch(one, spec, value, compatibility, report)
        values[one.key] = value
        taken.add(one.key)
    return Arguments(values, frozenset(taken))


def nearest(word: str, names: Iterable[str]) -> str:
    """The name most like a word, as a half-sentence to end a message with; empty if none is alike."""
    by_folded = {name.casefold(): name for name in sorted(names)}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[found[0]]!r}?" if found else ""


def _as(kind: type[_T], value: Value) -> _T:
    """A value of the kind that its reader asks for; asking for another than was declared is a mistake in the code."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}; ask for the kind that was declared")
    return value


def _spec_for(key: str, specs: tuple[Argument, ...]) -> Argument | None:
    """The argument of exactly this name, else the one with the longest fitting beginning."""
    exact = next((spec for spec in specs if spec.name == key and not spec.stem), None)
    stems = [spec for spec in specs if spec.stem and _goes_under(key, spec.stem)]
    return exact or max(stems, key=lambda spec: len(spec.stem), default=None)


def _goes_under(key: str, stem: str) -> bool:
    return key.startswith(stem) and key != stem


def _unknown(one: Given, specs: tuple[Argument, ...], owner: str) -> InputError:
    names = sorted(spec.name for spec in specs)
    message = f"{owner or 'this'} has no argument {one.key!r}{nearest(one.key, names)}"
    return InputError(message, place=one.place, accepted=", ".join(names) or "no arguments")


def _misfit(one: Given, spec: Argument) -> InputError:
    return InputError(f"{in_words(one.value)} does not fit", place=one.place, accepted=spec.accepted)


def _check_limits(one: Given, spec: Argument, value: Value, report: Report) -> None:
    if not isinstance(value, int | float):
        return
    measured = value / 10**9 if spec.kind == "duration" else value
    if (spec.minimum is not None and measured < spec.minimum) or (spec.maximum is not None and measured > spec.maximum):
        report(InputError(f"{in_words(one.value)} is out of range", place=one.place, accepted=spec.accepted))


def _check_switch(one: Given, spec: Argument, value: Value, compatibility: Compatibility, report: Report) -> None:
    """An argument and the switch it stands for must not be named with opposite meanings."""
    side = compatibility.named(spec.switch) if spec.switch else None
    if side is not None and value != (spec.upstream if side == "upstream" else spec.default):
        message = f"{in_words(one.value)} contradicts the compatibility switch {spec.switch}: {side}"
        report(InputError(message, place=one.place, accepted="one of the two"))
