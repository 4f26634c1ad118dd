"""What a run found, for people (lines of text) and for programs (one JSON value).

Both are made from the same outcomes, in the order of the worlds, so two runs over the same engine print the same
bytes.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from cases import Case, Json
from compare import Fact
from explain import Explanation
from judge import Outcome
from ledger import Ledger

UNEXPLAINED = "(unexplained)"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Lay out rows under a head: names to the left, numbers to the right."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for name, *numbers in cells:
        right = (number.rjust(width + 2) for number, width in zip(numbers, widths[1:], strict=True))
        yield name.ljust(widths[0]) + "".join(right)


def by_family(families: Iterable[str], *counts: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    """Make one row per family from counts, and their total."""
    for family in families:
        yield family, *(count.get(family, 0) for count in counts)
    yield "total", *(sum(count.values()) for count in counts)


def tally(items: Iterable[Case | Outcome | Explanation]) -> Counter[str]:
    """Count worlds by family."""
    return Counter(item.family for item in items)


def agreement(recorded: Sequence[Case], outcomes: Sequence[Outcome], fields: Collection[str]) -> Iterator[str]:
    """Show, per family, how many worlds are recorded, are in reach, and agree."""
    worlds = tally(recorded)
    agree = tally(outcome for outcome in outcomes if not outcome.differing(fields))
    yield from table(("family", "recorded", "in reach", "agree"), by_family(worlds, worlds, tally(outcomes), agree))
    asked, wrong = per_field(outcomes)
    yield ""
    counts = ((field, asked[field], wrong[field]) for field in fields if asked[field])
    yield from table(("field", "facts", "wrong"), counts)


def per_field(outcomes: Iterable[Outcome]) -> tuple[Counter[str], Counter[str]]:
    """Count the facts compared and the facts that were wrong, by field."""
    asked: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for outcome in outcomes:
        asked.update(outcome.asked)
        wrong.update(fact.field for fact in outcome.wrong)
    return asked, wrong


def differing(outcomes: Iterable[Outcome], fields: Collection[str], ledger: Ledger, show: int) -> Iterator[str]:
    """List the worlds that do not agree, with the reason where it is known, and the first `show` of them in full."""
    worlds = [(outcome, outcome.differing(fields)) for outcome in outcomes]
    for number, (outcome, facts) in enumerate((outcome, facts) for outcome, facts in worlds if facts):
        known = ledger.get(outcome.world)
        yield f"  {outcome.world}: {', '.join(names(facts))}" + (f" (known: {known.reason})" if known else "")
        if number < show:
            yield from in_full(facts)


def names(facts: Iterable[Fact]) -> list[str]:
    """Name the fields of some facts, each once, in their order."""
    return list(dict.fromkeys(fact.field for fact in facts))


def in_full(facts: Iterable[Fact]) -> Iterator[str]:
    """Show both sides of each fact."""
    for fact in facts:
        yield f"      {fact.field} {fact.where}"
        yield f"        wanted {json.dumps(fact.wanted, ensure_ascii=False)}"
        yield f"        found  {json.dumps(fact.found, ensure_ascii=False) if fact.found is not None else '(silent)'}"


def names_of(explanation: Explanation) -> str:
    """Name what explains a world."""
    return UNEXPLAINED if explanation.switches is None else " + ".join(explanation.switches)


def explanations(found: Sequence[Explanation], switches: Iterable[str], show: int) -> Iterator[str]:
    """Show what Posse's own mode decides otherwise: by family, by switch, and world by world."""
    differ = [each for each in found if each.differing]
    worlds = tally(found)
    open_ones = tally(each for each in differ if each.switches is None)
    rows = by_family(worlds, worlds, tally(each for each in found if not each.differing), tally(differ), open_ones)
    yield from table(("family", "worlds", "same", "differ", "unexplained"), rows)
    yield ""
    used = Counter(switch for each in differ for switch in each.switches or ())
    yield from table(("switch", "worlds"), ((switch, used[switch]) for switch in switches))
    yield ""
    for number, each in enumerate(differ):
        yield f"  {each.world}: {', '.join(names(each.differing))}: {names_of(each)}"
        if number < show:
            yield from in_full(each.differing)


def as_json(
    recorded: Sequence[Case], outcomes: Sequence[Outcome], fields: Collection[str], found: Sequence[Explanation]
) -> Json:
    """Tell the whole run as one value."""
    asked, wrong = per_field(outcomes)
    differ = {outcome.world: [asdict(fact) for fact in outcome.differing(fields)] for outcome in outcomes}
    return {
        "recorded": dict(tally(recorded)),
        "in_reach": dict(tally(outcomes)),
        "agree": dict(tally(outcome for outcome in outcomes if not differ[outcome.world])),
        "fields": {field: {"facts": asked[field], "wrong": wrong[field]} for field in fields if asked[field]},
        "differences": {world: facts for world, facts in differ.items() if facts},
        "explanations": [asdict(each) for each in found if each.differing],
    }
