"""Answer recorded questions: `answer.py KIND` reads cases as JSON lines on stdin and writes one answer line for each.

A case is what a scheduler is given (`id`, `conf`, `objects`, `cycles`, `now`); what a case was held against is
neither needed nor looked at. Kind `volcano` answers with the result of `posse simulate --batch` under
`compatibility: upstream`, where only pods of the scheduler `volcano` are placed.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from cases import QUESTION, Json
from engine import answer


def volcano(case: Json) -> Json:
    """Answer one world the way the recorded Volcano decides."""
    return answer({key: case[key] for key in QUESTION if key in case}, "upstream")


KINDS: Mapping[str, Callable[[Json], Json]] = {"volcano": volcano}


def main() -> None:
    """Answer line by line, each as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    kind = KINDS[parser.parse_args().kind]
    for number, line in enumerate(sys.stdin, 1):
        if line.strip():
            try:
                case = json.loads(line)
            except ValueError as fault:
                parser.error(f"line {number}: {fault} (accepted: one JSON object per line)")
            print(json.dumps(kind(case), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
