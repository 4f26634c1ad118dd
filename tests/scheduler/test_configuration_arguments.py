"""Arguments: what counts as a value of each kind, and how names with a part in angle brackets work."""

import pytest

from posse.errors import InputError
from posse.scheduler.arguments import Argument, Given, arguments_of, read_arguments, weight
from posse.scheduler.conf_yaml import Value, parse
from posse.scheduler.registry import built_in
from posse.scheduler.switches import Compatibility

SECOND = 10**9


def written(word: str) -> Value:
    """The value of a word as it stands in a file."""
    root = parse(f"x: {word}").root
    plain = root.plain() if root else None
    assert isinstance(plain, dict)
    value: Value = plain["x"]
    return value


@pytest.mark.parametrize(
    ("kind", "word", "value"),
    [
        ("int", "5", 5),
        ("int", "-1_000", -1000),
        ("int", "0x10", 16),
        ("int", "010", 8),
        ("int", "0b11", 3),
        ("float", "5", 5.0),
        ("float", "1.5", 1.5),
        ("float", "1e3", 1000.0),
        ("float", "08", 8.0),
        ("float", "9223372036854775808", 9223372036854775808.0),
        ("bool", "yes", True),
        ("bool", "off", False),
        ("bool", "'false'", False),
        ("bool", "'T'", True),
        ("str", "10:30", "10:30"),
        ("str", "2026-01-01", "2026-01-01"),
        ("str", "'5'", "5"),
        ("str", "!!str 5", "5"),
        ("duration", "90s", 90 * SECOND),
        ("duration", "1h30m", 5400 * SECOND),
        ("duration", "1.5ms", 1_500_000),
        ("duration", "'0'", 0),
        ("duration", "-1s", -SECOND),
        ("list", "[1, a]", (1, "a")),
        ("mapping", "{a: [1]}", {"a": (1,)}),
    ],
)
def test_a_word_is_a_value_of_its_kind(kind: str, word: str, value: Value) -> None:
    arguments = arguments_of([Argument("x", kind)], {"x": written(word)})  # type: ignore[arg-type]
    assert arguments.values["x"] == value
    assert type(arguments.values["x"]) is type(value)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("int", "'5'"),
        ("int", "5.0"),
        ("int", "true"),
        ("int", "9223372036854775808"),
        ("int", "10:30"),
        ("float", "'1.5'"),
        ("float", ".nan"),
        ("float", "-.inf"),
        ("float", "no"),
        ("bool", "1"),
        ("bool", "'yes'"),
        ("str", "5"),
        ("str", "true"),
        ("duration", "90"),
        ("duration", "90 s"),
        ("duration", "1d"),
        ("duration", "s"),
        ("list", "a"),
        ("mapping", "[a]"),
        ("int", ""),
    ],
)
def test_a_word_of_another_kind_does_not_fit(kind: str, word: str) -> None:
    with pytest.raises(InputError, match="does not fit"):
        arguments_of([Argument("x", kind)], {"x": written(word)})  # type: ignore[arg-type]


def test_a_lenient_reading_notes_each_misfit_and_keeps_the_defaults() -> None:
    notes: list[InputError] = []
    declared = [Argument("a", "int", 1), Argument("b", "bool", True)]
    given = [Given("a", "5"), Given("b", 0), Given("c", 1)]
    arguments = read_arguments(declared, given, compatibility=Compatibility(), owner="plugin p", report=notes.append)
    assert arguments.values == {"a": 1, "b": True}
    assert arguments.given == frozenset()
    assert len(notes) == 3


RESOURCES = (
    Argument("binpack.resources", "str", ""),
    Argument("binpack.resources.<resource>", "int", minimum=0),
    Argument("binpack.resources.zone.<zone>", "str"),
)


def test_a_name_with_a_part_in_brackets_stands_for_a_family() -> None:
    given: dict[str, Value] = {
        "binpack.resources": "nvidia.com/gpu",
        "binpack.resources.nvidia.com/gpu": 2,
        "binpack.resources.example.com/foo": 3,
    }
    arguments = arguments_of(RESOURCES, given)
    assert arguments.get_str("binpack.resources") == "nvidia.com/gpu"
    assert arguments.get_ints("binpack.resources.<resource>") == {"example.com/foo": 3, "nvidia.com/gpu": 2}


def test_a_family_without_members_is_empty() -> None:
    assert arguments_of(RESOURCES).get_ints("binpack.resources.<resource>") == {}


def test_members_of_a_family_are_held_to_its_kind_and_limits() -> None:
    with pytest.raises(InputError, match="out of range"):
        arguments_of(RESOURCES, {"binpack.resources.cpu": -1})


def test_the_longest_beginning_claims_a_key() -> None:
    assert arguments_of(RESOURCES, {"binpack.resources.zone.a": "10:00"}).values["binpack.resources.zone.a"] == "10:00"


def test_every_number_that_a_plugin_takes_is_bounded() -> None:
    taken = [argument for spec in built_in().plugin_specs().values() for argument in spec.arguments]
    unbounded = [each.name for each in taken if each.kind in ("int", "float") and each.maximum is None]
    assert unbounded == []


def test_a_weight_is_bounded_on_both_sides() -> None:
    for beyond in (-1_000_001, 1_000_001):
        with pytest.raises(InputError, match=r"out of range.*at least -1,000,000, at most 1,000,000"):
            arguments_of([weight("w", 1, "")], {"w": beyond})


def test_limits_of_a_duration_are_seconds() -> None:
    period = Argument("period", "duration", "1m", minimum=1, maximum=3600)
    assert arguments_of([period]).get_duration("period") == 60 * SECOND
    with pytest.raises(InputError) as caught:
        arguments_of([period], {"period": "100ms"})
    assert caught.value.accepted == "a duration such as 90s, 10m or 1h30m, at least 1s, at most 3,600s"


def test_a_default_of_another_kind_is_a_mistake_in_the_code() -> None:
    with pytest.raises(TypeError, match="the default of x is '5', which is no int"):
        arguments_of([Argument("x", "int", "5")])


def test_asking_for_another_kind_than_declared_is_a_mistake_in_the_code() -> None:
    with pytest.raises(TypeError, match="is no bool"):
        arguments_of([Argument("x", "int", 1)]).get_bool("x")
