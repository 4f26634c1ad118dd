"""YAML has JSON's types: what looks like a date or a clock stays text."""

import pytest

from posse.errors import InputError
from posse.kube.yaml_text import documents


def value(text: str) -> object:
    return next(documents(f"x: {text}\n".encode()))[2]["x"]


@pytest.mark.parametrize("text", ["2026-01-01", "2026-01-01T00:00:00Z", "12:30", "12:30:45", "0777", "0x1F", "="])
def test_what_only_looks_like_a_value_stays_text(text: str) -> None:
    assert value(text) == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("5", 5),
        ("-5", -5),
        ("0", 0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("yes", True),
        ("on", True),
        ("No", False),
        ("off", False),
        ("null", None),
        ("~", None),
        ("", None),
        ('"5"', "5"),
        ("'yes'", "yes"),
        ("4Gi", "4Gi"),
        ("100m", "100m"),
    ],
)
def test_numbers_booleans_and_null_are_what_kubectl_reads(text: str, meant: object) -> None:
    found = value(text)

    assert found == meant
    assert type(found) is type(meant)


def test_merge_keys_work() -> None:
    text = "base: &b {a: 1}\nmore: {<<: *b, c: 2}\n"

    assert next(documents(text.encode()))[2]["more"] == {"a": 1, "c": 2}


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3\n", "x:\n- {b: 1}\n- c: {a: 1, a: 1}\n", '"a": 1\na: 2\n'])
def test_a_key_that_stands_twice_is_refused_where_it_does(text: str) -> None:
    with pytest.raises(InputError, match=r"the key 'a' stands here a second time") as caught:
        next(documents(text.encode(), "f.yaml"))

    assert (caught.value.place.file, caught.value.place.line) == ("f.yaml", text.count("\n"))


def test_what_a_merge_brings_may_be_said_otherwise() -> None:
    text = "base: &b {a: 1}\nmore: {<<: *b, a: 2}\nagain: *b\n"

    assert next(documents(text.encode()))[2] == {"base": {"a": 1}, "more": {"a": 2}, "again": {"a": 1}}


def test_aliases_repeat_what_they_name() -> None:
    assert value("[&a {b: 1}, *a, *a]") == [{"b": 1}] * 3


@pytest.mark.parametrize("more", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_that_unfold_into_more_than_any_memory_holds_are_refused(more: str) -> None:
    lines = [f"x{level}: &x{level} " + more.format(", ".join([f"*x{level - 1}"] * 10)) for level in range(1, 30)]
    text = "\n".join(["a: 1", "---", "x0: &x0 {a: b}", *lines])

    with pytest.raises(InputError, match=r"document 2.*aliases repeat more than 1,000,000 values"):
        list(documents(text.encode()))


def test_an_alias_within_what_it_names_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"line 2.*an alias is part of what it names"):
        value("\n  &a [1, *a]")


def test_documents_are_numbered_and_know_their_first_line() -> None:
    text = "a: 1\n---\nb: 2\n---\n\nc: 3\n"

    assert [(number, line) for number, line, _ in documents(text.encode())] == [(1, 1), (2, 3), (3, 6)]


def test_bad_yaml_is_reported_with_document_and_line() -> None:
    with pytest.raises(InputError) as caught:
        list(documents(b"a: 1\n---\nb: {\n", "f.yaml"))

    assert (caught.value.place.file, caught.value.place.document) == ("f.yaml", 2)
    assert caught.value.place.line == 4


@pytest.mark.parametrize("text", [b"a: !!python/object:os.system {}", b"a: \xff\xfe", b"a: b: c"])
def test_no_text_however_odd_is_a_traceback(text: bytes) -> None:
    with pytest.raises(InputError, match="is not YAML"):
        list(documents(text))
