"""YAML with its lines: anchors, merges and tags, as far as a configuration needs them."""

import pytest

from posse.errors import InputError
from posse.scheduler.conf_yaml import Table, Value, parse


def value_of(text: str) -> Value:
    root = parse(text).root
    return root.plain() if root else None


def test_every_entry_knows_its_line() -> None:
    root = parse("a: 1\n\nb:\n- c: 2\n").root
    assert isinstance(root, Table)
    assert [(entry.key, entry.line) for entry in root.entries] == [("a", 1), ("b", 3)]


def test_of_a_key_that_stands_twice_the_later_counts_and_both_are_known() -> None:
    root = parse("a: 1\nb: 2\na: 3\n").root
    assert isinstance(root, Table)
    assert [(entry.key, entry.line) for entry in root.entries] == [("a", 3), ("b", 2)]
    assert [(entry.key, entry.line) for entry in root.repeated] == [("a", 3)]


def test_an_alias_stands_for_its_anchor() -> None:
    assert value_of("a: &x {b: 1}\nc: *x\n") == {"a": {"b": 1}, "c": {"b": 1}}


def test_a_merge_brings_what_is_not_said_again() -> None:
    text = "base: &x {a: 1, b: 2}\nother: &y {b: 3, c: 4}\nall:\n  <<: [*x, *y]\n  a: 9\n"
    merged = value_of(text)
    assert isinstance(merged, dict)
    assert merged["all"] == {"a": 9, "b": 2, "c": 4}


def test_a_merge_is_no_repetition() -> None:
    root = parse("base: &x {a: 1}\nall: {<<: *x, a: 2}\n").root
    assert isinstance(root, Table)
    merged = root.get("all")
    assert isinstance(merged, Table)
    assert merged.repeated == ()


def test_keys_are_text_whatever_they_look_like() -> None:
    assert value_of("5: a\ntrue: b\n") == {"5": "a", "true": "b"}


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "\n\n"])
def test_an_empty_text_holds_nothing(text: str) -> None:
    assert value_of(text) is None


def test_a_second_document_is_found_and_not_read() -> None:
    document = parse("a: 1\n---\nb: 2\n")
    assert document.second == 2
    assert document.root is not None
    assert document.root.plain() == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !secret x", "the tag !secret is not understood"),
        ("a: !!int x", "is not understood for 'x'"),
        ("a: !!python/object:os.system {}", "is not understood"),
        ("? [a]\n: b\n", "a list cannot be a key"),
        ("a: {<<: 5}", "`<<` merges mappings, not the number 5"),
        ("a: *b", "the alias \\*b has no finished anchor"),
        ('a: "\\UFFFFFFFF"', "not YAML"),
        ("a: \ud800", "not allowed"),
    ],
)
def test_what_a_configuration_has_no_use_for_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)
