"""Check that the documentation is true where a program can tell: links resolve, and quoted commands exist.

Every Markdown page of the repository is read. A link to a file or heading must lead somewhere. A command in a shell
block (and an inline `make ...` or `posse ...`) must name a target of the Makefile, a verb of `posse` with options
it has, or a file that is there. Links out of the repository are left alone: a check must not need the network. Exit
1 names each fault by page and line.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("docs", "conformance", "bench", "deploy", "examples")
SHELLS = ("sh", "bash", "shell", "console")

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
INLINE = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
OPERATORS = ("|", "||", "&&", ";")


class Line(NamedTuple):
    """A line of a page, and the language of the block it stands in; None outside of blocks."""

    page: Path
    number: int
    text: str
    block: str | None


def pages() -> list[Path]:
    """List all pages."""
    below = (page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *below])


def lines(page: Path) -> Iterator[Line]:
    """Read a page, with fences resolved and continued lines joined."""
    block: str | None = None
    kept = ""
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if text.lstrip().startswith("```"):
            block = text.strip().removeprefix("```").strip() if block is None else None
        elif block is not None and text.endswith("\\"):
            kept += text[:-1]
        else:
            yield Line(page, number, kept + text, block)
            kept = ""


@cache
def anchors(page: Path) -> frozenset[str]:
    """List the headings of a page as links name them."""
    headings = (line.text for line in lines(page) if line.block is None and line.text.startswith("#"))
    return frozenset(re.sub(r"[^\w\- ]", "", text.lstrip("# ").lower()).replace(" ", "-") for text in headings)


def bad_links(line: Line) -> Iterator[str]:
    """Find links that lead nowhere."""
    for target in LINK.findall(INLINE.sub("", line.text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        page = (line.page.parent / path).resolve() if path else line.page
        if not page.exists():
            yield f"no such file: {target}"
        elif anchor and anchor not in anchors(page):
            yield f"no such heading: {target}"


def commands(line: Line) -> Iterator[list[str]]:
    """Find the commands that a line quotes, each as its words."""
    if line.block in SHELLS:
        text = line.text.strip().removeprefix("$ ") if line.block == "console" else line.text.strip()
        shown = line.block != "console" or line.text.lstrip().startswith("$ ")
        quoted = [text] if shown else []
    else:
        quoted = [text for text in INLINE.findall(line.text) if line.block is None and re.match(r"(make|posse) ", text)]
    for text in quoted:
        yield from simple(text)


def simple(text: str) -> Iterator[list[str]]:
    """Take a shell line apart into simple commands."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word not in OPERATORS:
            words.append(word)
        elif words:
            yield words
            words = []


@cache
def targets() -> frozenset[str]:
    """List the targets of the Makefile."""
    return frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def usage(verb: str) -> str | None:
    """Ask a verb of `posse` for its help; None if there is no such verb."""
    command = [str(Path(sys.executable).with_name("posse")), *([verb] if verb else []), "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None


def bad_command(words: list[str]) -> Iterator[str]:
    """Find what a quoted command names that is not there."""
    program, *rest = words
    named = [word for word in rest if not word.startswith("-") and "=" not in word]
    if program == "make":
        yield from (f"no such target: make {name}" for name in named if name not in targets())
    elif program == "posse":
        yield from bad_verb(rest)
    elif program.startswith("python") and rest[:1] == ["-m"]:
        package = ROOT / rest[1].replace(".", "/")
        known = package.is_dir() or package.with_suffix(".py").is_file() or rest[1] in sys.stdlib_module_names
        yield from [] if known else [f"no such module: {rest[1]}"]
    yield from (f"no such file: {word}" for word in words if inside(word) and not any(ROOT.glob(word)))


def inside(word: str) -> bool:
    """Tell whether a word is the path of something in this repository."""
    folder, slash, _ = word.partition("/")
    return bool(folder and slash) and (ROOT / folder).is_dir()


def bad_verb(rest: list[str]) -> Iterator[str]:
    """Find the verb or the options that `posse` does not have."""
    verb = rest[0] if rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]) else ""
    text = usage(verb)
    if text is None:
        yield f"no such verb: posse {verb}"
        return
    known = set(OPTION.findall(text))
    options = (word.split("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word))
    yield from (f"no such option: posse {verb} {option}" for option in options if option not in known)


def faults() -> Iterator[str]:
    """Check every page."""
    for page in pages():
        for line in lines(page):
            links = bad_links(line) if line.block is None else ()
            found = [*links, *(fault for words in commands(line) for fault in bad_command(words))]
            yield from (f"{page.relative_to(ROOT)}:{line.number}: {fault}" for fault in found)


def main() -> int:
    """Print every fault; succeed if there is none."""
    found = list(faults())
    print("\n".join(found) or f"{len(pages())} pages: links resolve, commands exist.")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
