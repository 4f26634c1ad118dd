"""Recorded worlds: small clusters with a configuration, and what a real peer decided on them.

A line of `volcano/<family>.jsonl.gz` is one world. It is split here, once, into the question (what a scheduler is
given) and the recorded side (what is known of the decision), so that no answer can look at what it is held against.
What the keys mean is told in `volcano/README.md`.
"""

import gzip
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parent / "volcano"

QUESTION = ("id", "conf", "objects", "cycles", "now")
"""What a scheduler is given; the rest of a line is for whoever compares."""


@dataclass(frozen=True)
class Case:
    """One recorded world: the question as a batch line, and what its answer is held against."""

    id: str
    family: str
    question: Json
    expect: Json

    @property
    def objects(self) -> list[Json]:
        """The manifests of the world."""
        objects: list[Json] = self.question["objects"]
        return objects


def parse(line: Json) -> Case:
    """Split a recorded line into question and expectation."""
    question = {key: line[key] for key in QUESTION if key in line}
    return Case(id=line["id"], family=line["family"], question=question, expect=line["expect"])


def families(folder: Path = FOLDER) -> list[str]:
    """Name the recorded families, sorted."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz"))


def load(wanted: Collection[str] = (), folder: Path = FOLDER) -> Iterator[Case]:
    """Read the worlds of the families wanted (none named: all), family by family, in recorded order."""
    for family in families(folder):
        if not wanted or family in wanted:
            with gzip.open(folder / f"{family}.jsonl.gz", "rt", encoding="utf-8") as lines:
                yield from (parse(json.loads(line)) for line in lines)
