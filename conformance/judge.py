"""One world, asked and held against the record: the piece of work that a run hands to its processes."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from cases import Case
from compare import FIELDS, Fact, facts, wrong
from engine import answer, switches
from explain import Explanation, marks, smallest


@dataclass(frozen=True)
class Outcome:
    """How one world came out: how many facts each field was asked, and those that are wrong."""

    world: str
    family: str
    asked: Counter[str]
    wrong: tuple[Fact, ...]

    def differing(self, fields: Collection[str]) -> list[Fact]:
        """List what is wrong in these fields."""
        return [fact for fact in self.wrong if fact.field in fields or fact.field not in FIELDS]


def judge(case: Case) -> Outcome:
    """Ask a world under upstream's rules and hold the answer against the record."""
    found = list(facts(case, answer(case.question, "upstream")))
    wrong_ones = tuple(fact for fact in found if not fact.right)
    return Outcome(case.id, case.family, Counter(fact.field for fact in found), wrong_ones)


def explain(case: Case, fields: Collection[str]) -> Explanation:
    """Ask a world under Posse's rules; where it then differs from the record, find the switches that explain it."""

    def trial(upstream: Collection[str]) -> list[Fact]:
        return wrong(case, answer(case.question, "posse", upstream), fields)

    accepted = marks(wrong(case, answer(case.question, "upstream"), fields))
    differing = tuple(fact for fact in trial(()) if marks([fact]).isdisjoint(accepted))
    found = smallest(trial, switches(), accepted) if differing else ()
    return Explanation(case.id, case.family, differing, found)
