"""Refresh what the documentation quotes: tables from the code, and what commands print.

A page marks the place of a table with `<!-- table: NAME -->` and `<!-- end -->`. A `console` block whose first line is
a command (`$ posse ...`) shows what it prints, run in the folder of the repository. Both are made anew here, so they
stay true. Without a word the pages are rewritten; `--check` only says which are out of date (exit 1).
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tables import TABLES

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
QUOTED = re.compile(r"(```console\n\$ (posse [^\n]+)\n).*?(```)", re.DOTALL)
WIDTH = "90"


def pages() -> list[Path]:
    """List the pages that quote."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def printed(command: str) -> str:
    """Run a command, and give what it prints."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": tools, "COLUMNS": WIDTH}
    run = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return (run.stdout + run.stderr).strip("\n") + "\n"


def refreshed(text: str) -> str:
    """Give a page with all that it quotes made anew."""
    text = MARKED.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)
    return QUOTED.sub(lambda found: found[1] + printed(found[2]) + found[3], text)


def main(words: Sequence[str]) -> int:
    """Rewrite the pages that are out of date, or name them."""
    checks = "--check" in words
    stale = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        fresh = refreshed(text)
        if fresh == text:
            continue
        stale += 1
        if not checks:
            page.write_text(fresh, encoding="utf-8")
        print(f"{page.relative_to(ROOT)} {'is out of date: run python docs/refresh.py' if checks else 'is rewritten'}")
    return 1 if stale and checks else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
