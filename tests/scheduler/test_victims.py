"""Victims: who may go for whom, from the answers of all plugins."""

from collections.abc import Sequence
from typing import ClassVar

from posse.cluster.views import Gang, Task
from posse.scheduler.plugin import Plugin
from posse.scheduler.registry import Registry, built_in
from posse.scheduler.victims import victims, victims_of_gang
from tests.builders import bare, conf, crew, engine, gang, node, task, the_gang, the_task


class Named(Plugin):
    """Names those candidates whose number is in `numbers`; None: no opinion."""

    numbers: ClassVar[str | None] = ""

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Name by number."""
        return None if self.numbers is None else [each for each in candidates if each.key[-1] in self.numbers]

    def evictable(self, for_gang: Gang, candidates: Sequence[Task], *, across_queues: bool) -> Sequence[Task] | None:
        """Name by number."""
        return self.preemptable(candidates[0], candidates) if candidates else []


def gone(*tiers: str, flags: dict[str, bool] | None = None) -> str:
    """The numbers of those of six candidates that may go.

    Plugins are written `+012`: spares all but 0, 1 and 2; `-012`: selects 0, 1 and 2; `~`: has no opinion.
    """
    words = sorted({word for tier in tiers for word in tier.split()})
    classes = {word: _plugin(f"p{number}", word) for number, word in enumerate(words)}
    registry = Registry({each.name: each for each in classes.values()}, built_in().actions)
    text = conf(*([{"name": classes[word].name, **(flags or {})} for word in tier.split()] for tier in tiers))
    members = crew("a", 6, on="n1")
    running = engine(text, node("n1"), gang("a"), *members, gang("b"), task("b-0", "b"), registry=registry)
    candidates = [the_task(running, bare(each.key)) for each in members]
    one = victims(running.tiers, "preemptable", the_task(running, "b-0"), candidates)
    if not flags:
        many = victims_of_gang(running.tiers, the_gang(running, "b"), candidates, across_queues=False)
        assert [each.row for each in one] == [each.row for each in many]
    return "".join(each.key[-1] for each in one)


def _plugin(name: str, word: str) -> type[Plugin]:
    members = {"name": name, "protects": word[0] == "+", "numbers": None if word == "~" else word[1:]}
    return type(name, (Named,), members)


def test_a_selector_says_who_goes():
    assert gone("-24") == "24"


def test_within_a_tier_all_must_name_a_victim():
    assert gone("-0123 -123 +234") == "23"


def test_the_first_tier_that_names_anyone_decides():
    assert gone("-01", "-12") == "01"


def test_a_selector_that_names_nobody_passes_the_question_on():
    assert gone("- +0123", "-2345") == "23"


def test_who_is_protected_in_one_tier_is_safe_from_all_later_ones():
    assert gone("+01", "- ", "-0123") == "01"
    assert gone("- +01", "-0123") == "01"


def test_a_protector_in_a_later_tier_comes_too_late():
    assert gone("-012", "+") == "012"


def test_who_cannot_agree_on_anyone_takes_nobody():
    assert gone("-01 -23", "-45") == ""


def test_nobody_goes_if_all_that_were_selected_are_protected():
    assert gone("-01 +23", "-23") == ""


def test_without_a_selector_in_the_tier_whom_its_protectors_leave_may_go():
    assert gone("+0123 +1234") == "123"


def test_nobody_goes_if_everybody_is_protected():
    assert gone("+", "-0123") == ""


def test_who_has_no_opinion_is_not_heard():
    assert gone("~ -12") == "12"
    assert gone("~", "-12") == "12"


def test_nobody_goes_if_nobody_has_an_opinion():
    assert gone("~") == ""
    assert gone("") == ""


def test_a_plugin_whose_flag_is_off_is_not_asked():
    assert gone("-12", flags={"enablePreemptable": False}) == ""


def test_victims_come_in_the_order_of_the_candidates():
    assert gone("-420 -024") == "024"
