"""The search for switches: what it names is enough, and nothing smaller is."""

from collections.abc import Collection

from compare import Fact
from explain import Trial, marks, smallest

SWITCHES = ["a", "b", "c", "d"]


def fact(field: str) -> Fact:
    return Fact(field, "all", wanted=1, found=0)


def cured_by(*sets: str) -> Trial:
    """A world whose phase comes out right when all switches of one of the sets are on upstream's side."""

    def trial(upstream: Collection[str]) -> list[Fact]:
        return [] if any(set(each) <= set(upstream) for each in sets) else [fact("phase")]

    return trial


def test_one_switch_explains_a_world_that_it_alone_cures() -> None:
    assert smallest(cured_by("c"), SWITCHES, frozenset()) == ("c",)


def test_switches_that_work_only_together_are_named_together() -> None:
    assert smallest(cured_by("bd"), SWITCHES, frozenset()) == ("b", "d")


def test_the_smallest_set_wins_over_one_that_is_merely_enough() -> None:
    assert smallest(cured_by("bcd", "a"), SWITCHES, frozenset()) == ("a",)


def test_a_world_that_all_switches_do_not_cure_stays_unexplained() -> None:
    assert smallest(cured_by(), SWITCHES, frozenset()) is None


def test_what_upstream_gets_wrong_too_needs_no_explanation() -> None:
    assert smallest(cured_by(), SWITCHES, accepted=marks([fact("phase")])) == ()
