"""The ledger of known differences: strict to read, and held to the truth in both directions."""

import pytest

from ledger import LedgerError, read, untruths

KNOWN = """
[[difference]]
worlds = ["w1", "w2"]
fields = ["phase", "conditions"]
reason = "a defect that is not repeated"
"""


def test_worlds_that_differ_as_listed_are_true() -> None:
    found = {"w1": ["phase", "conditions"], "w2": ["conditions", "phase"], "w3": []}

    assert list(untruths(read(KNOWN), found, ["phase", "conditions"])) == []


def test_a_difference_that_is_not_listed_is_told() -> None:
    found = {"w1": ["phase", "conditions", "bound"], "w3": ["phase"]}

    assert list(untruths(read(KNOWN), found, ["phase", "conditions", "bound"])) == [
        "w1: differs in bound, which known.toml does not list",
        "w3: differs in phase, which known.toml does not list",
    ]


def test_a_listed_difference_that_is_gone_is_told() -> None:
    assert list(untruths(read(KNOWN), {"w1": ["phase"]}, ["phase", "conditions"])) == [
        "w1: agrees in conditions, though known.toml lists it"
    ]


def test_the_ledger_is_held_only_to_the_fields_and_worlds_looked_at() -> None:
    assert list(untruths(read(KNOWN), {"w1": ["phase"]}, ["phase"])) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('reason = "a defect that is not repeated"', ""), "needs worlds, fields and a reason"),
        (('reason = "a defect that is not repeated"', 'reason = ""'), "needs worlds, fields and a reason"),
        (('"conditions"', '"moods"'), "moods"),
        (('"w2"', '"w1"'), "w1 is listed twice"),
    ],
)
def test_an_unclear_entry_is_refused(change: tuple[str, str], message: str) -> None:
    with pytest.raises(LedgerError, match=message):
        read(KNOWN.replace(*change))
