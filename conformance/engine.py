"""The scheduler under test, as the runner asks it: a question in, an answer out, in this process.

All that the runner asks of Posse is here: what it has (its registry), which switches it names, and how a
batch line is answered. Switches are named the way a user names them, in the configuration's own text, so what is
proven about a switch here is true for whoever writes the same line.
"""

from collections.abc import Collection
from typing import Any

import yaml

from cases import Json
from posse.scheduler.registry import built_in
from posse.scheduler.switches import SWITCHES
from posse.simulation.batch import answer_line
from reach import Parts

SCHEDULER_NAMES = ["volcano"]


def parts() -> Parts:
    """List the actions and plugins that Posse has."""
    registry = built_in()
    return Parts(actions=frozenset(registry.actions), plugins=frozenset(registry.plugins))


def switches() -> list[str]:
    """Name all switches, in the order of their table."""
    return [switch.name for switch in SWITCHES]


def turned(conf: str, upstream: Collection[str]) -> Json:
    """Turn switches to upstream's side: what changes in the line.

    A configuration that is no YAML can name no switch, so there the mode has to say what becomes of an unreadable file.
    """
    try:
        yaml.safe_load(conf)
    except yaml.YAMLError:
        return {"compatibility": "upstream"} if "conf-unknown" in upstream else {}
    return {"conf": naming(conf, upstream)}


def naming(conf: str, upstream: Collection[str]) -> str:
    """Name switches in a configuration's text, each turned to upstream's side."""
    sides = ", ".join(f"{switch}: upstream" for switch in upstream)
    entry = f"configurations:\n- name: compatibility\n  arguments: {{{sides}}}\n"
    lines = conf.splitlines(keepends=True)
    if "configurations:\n" not in lines:
        return conf.rstrip("\n") + "\n" + entry
    at = lines.index("configurations:\n")
    return "".join(lines[:at]) + entry + "".join(lines[at + 1 :])


def answer(question: Json, compatibility: str, upstream: Collection[str] = ()) -> Json:
    """Answer a world under a mode, with some switches on upstream's side. A crash is an answer too: an error."""
    line: Json = {**question, "compatibility": compatibility, "schedulerNames": SCHEDULER_NAMES, "what_if_runs": 0}
    if upstream:
        line |= turned(question.get("conf", ""), upstream)
    try:
        result: dict[str, Any] = answer_line(line)
    except Exception as crash:  # one world must not end the run of the others
        return {"id": question["id"], "error": {"message": f"crashed: {crash!r}"}}
    return result
