"""How far Posse decides as the recorded peer does.

Every recorded world that Posse can be asked (its configuration names only actions and plugins that Posse has) is
answered under `compatibility: upstream` and held against the record. With `--posse` the same worlds are also
answered under Posse's own rules, and each difference is traced to the smallest set of named switches that makes it
vanish.

Exit 0: every world agrees or is listed in `known.toml`, and nothing listed there agrees after all. Exit 1:
otherwise, or a difference between the modes has no explanation. Exit 2: bad usage.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from cases import Case, families, load
from compare import FIELDS, MAIN
from engine import parts, switches
from explain import Explanation
from judge import Outcome, explain, judge
from ledger import FILE, Ledger, LedgerError, read, untruths
from reach import asked
from report import agreement, as_json, differing, explanations

Result = TypeVar("Result")


def arguments() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--family", action="append", default=[], choices=families(), metavar="NAME", help="only this one"
    )
    parser.add_argument("--id", action="append", default=[], metavar="ID", help="only this world")
    parser.add_argument("--fields", type=known_fields, help="only these, with commas between")
    parser.add_argument("--all-fields", action="store_true", help="what objects say about the decisions, too")
    parser.add_argument("--posse", action="store_true", help="explain what Posse's own mode decides otherwise")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="both sides of the first N that differ")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was found as JSON")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    return parser


def known_fields(text: str) -> list[str]:
    """Take a list of fields from the command line."""
    fields = text.split(",")
    unknown = [field for field in fields if field not in FIELDS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such field: {', '.join(unknown)} (accepted: {', '.join(FIELDS)})")
    return fields


def spread(work: Callable[[Case], Result], cases: Iterable[Case], jobs: int) -> list[Result]:
    """Do the work on every case, in several processes, keeping the order."""
    if jobs <= 1:
        return [work(case) for case in cases]
    with ProcessPoolExecutor(jobs) as processes:
        return list(processes.map(work, cases, chunksize=8))


def show(options: argparse.Namespace, cases: list[Case], outcomes: list[Outcome], ledger: Ledger) -> list[str]:
    """Print the run under upstream's rules; give what is not true in the ledger."""
    print("\n".join(agreement(cases, outcomes, options.fields)))
    print("\nWorlds that do not agree:")
    print("\n".join(differing(outcomes, options.fields, ledger, options.show)) or "  none")
    fields = {outcome.world: {fact.field for fact in outcome.differing(options.fields)} for outcome in outcomes}
    faults = list(untruths(ledger, fields, options.fields))
    if not options.family and not options.id:
        faults += [f"{world}: listed in known.toml, but not in reach" for world in ledger if world not in fields]
    print("\nThe list of known differences is " + ("not true:\n  " + "\n  ".join(faults) if faults else "true."))
    return faults


def main() -> int:
    """Run what was asked for and say how it came out."""
    parser = arguments()
    options = parser.parse_args()
    options.fields = options.fields or list(FIELDS if options.all_fields else MAIN)
    try:
        ledger = read(FILE.read_text(encoding="utf-8"))
    except (LedgerError, ValueError) as fault:
        parser.error(str(fault))
    cases = [case for case in load(options.family) if not options.id or case.id in options.id]
    have = parts()
    reached = [case for case in cases if asked(case) <= have]
    if not reached:
        parser.error("nothing in reach: no such world, or its configuration names what Posse does not have")
    outcomes = spread(judge, reached, options.jobs)
    faults = show(options, cases, outcomes, ledger)
    found: list[Explanation] = []
    if options.posse:
        found = spread(partial(explain, fields=options.fields), reached, options.jobs)
        print("\nUnder Posse's own rules:\n")
        print("\n".join(explanations(found, switches(), options.show)))
    if options.json:
        report = as_json(cases, outcomes, options.fields, found)
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if faults or any(each.switches is None for each in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
