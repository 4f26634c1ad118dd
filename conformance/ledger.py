"""The ledger of known differences: every world that does not agree, in which fields, and why.

`known.toml` is true or the run fails, in both directions: a difference that is not listed is a regression, a listed
one that is gone is a stale excuse. A world is compared on the fields that were looked at only, so a run over a few
fields or a few worlds holds the ledger to just that.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from compare import ERROR, FIELDS

FILE = Path(__file__).parent / "known.toml"


class LedgerError(Exception):
    """A ledger that cannot be read: it says where and what is accepted."""


@dataclass(frozen=True)
class Difference:
    """What is known not to agree in one world."""

    fields: frozenset[str]
    reason: str


Ledger = Mapping[str, Difference]
"""Known differences by world."""


def read(text: str) -> Ledger:
    """Read a ledger: entries `[[difference]]` with worlds, fields and a reason; a world stands in one entry only."""
    ledger: dict[str, Difference] = {}
    for number, entry in enumerate(tomllib.loads(text).get("difference", []), 1):
        place = f"known.toml, difference {number}"
        if set(entry) != {"worlds", "fields", "reason"} or not entry["reason"]:
            raise LedgerError(f"{place}: needs worlds, fields and a reason, and nothing else")
        unknown = sorted(set(entry["fields"]) - set(FIELDS) - {ERROR})
        if unknown or not entry["fields"]:
            raise LedgerError(f"{place}: fields {unknown or 'empty'} (accepted: {', '.join(FIELDS)}, {ERROR})")
        for world in entry["worlds"]:
            if world in ledger:
                raise LedgerError(f"{place}: {world} is listed twice")
            ledger[world] = Difference(frozenset(entry["fields"]), entry["reason"])
    return ledger


def untruths(ledger: Ledger, found: Mapping[str, Collection[str]], looked_at: Collection[str]) -> Iterator[str]:
    """Say where the ledger is not true. `found`: the fields that differ, for each world that was run."""
    for world, differing in found.items():
        known = ledger[world].fields & {*looked_at, ERROR} if world in ledger else frozenset()
        new, gone = sorted(set(differing) - known), sorted(known - set(differing))
        if new:
            yield f"{world}: differs in {', '.join(new)}, which known.toml does not list"
        if gone:
            yield f"{world}: agrees in {', '.join(gone)}, though known.toml lists it"
