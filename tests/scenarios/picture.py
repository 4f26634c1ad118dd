"""Pictures of clusters: a file that shows what is there, and says what is to come of it.

    # One or two lines that tell the story.
    objects:             what is in the cluster, as manifests that users write
    conf:                a scheduler configuration; without it the built-in one
    compatibility:       posse (without it) or upstream
    cycles:              how many; without it until nothing moves any more
    steps:               what changes in between: {after_cycle, apply, delete}
    expect:
      after cycle 1:     or: in the end
        bound:           every pod that was bound so far, and its node: a name, a list of names, or `somewhere`
        promised:        every pod that waits for a node that is not free yet, likewise
        evicted:         every pod that was evicted
        gangs:           name: {phase, ready, running, pending, state, says}
        pods:            name: {reason, says}
        queues:          name: {allocated: {cpu: "2"}}

`train-0..2` stands for `train-0`, `train-1`, `train-2`. Namespaces are left out: everything is in `default`. `says` is
a part of what the cluster tells: of a gang its condition or what blocks it, of a pod its message.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from posse.cluster.records import CycleResult
from posse.simulation.batch import BatchLine
from posse.simulation.result import Record, result_of
from posse.simulation.run import Run
from posse.simulation.scenario import NOTHING_SAID, of_batch_line

SOMEWHERE = "somewhere"
END = "in the end"
_RANGE = re.compile(r"^(.*?)(\d+)\.\.(\d+)$")
_ADDED = re.compile(r"(-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?( \(\w+\))?$")
"""What a gang's key may end in: the uid of the job that made it, and its dialect."""

Expected = Mapping[str, Any]


class Picture:
    """A scenario file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text()
        self.story = " ".join(
            line.lstrip("# ") for line in text.split("\nobjects:")[0].splitlines() if line.startswith("#")
        )
        self.parts: dict[str, Any] = yaml.safe_load(text)

    def faults(self) -> list[str]:
        """Everything that came otherwise than the picture says."""
        found, expected = dict[str, Record](), self.parts["expect"]
        run = self._run()

        def look(_: int, result: CycleResult) -> None:
            found[f"after cycle {result.cycle}"] = looked_at(run)

        run.to_the_end(look)
        found[END] = looked_at(run)
        faults = []
        for moment, part in expected.items():
            if moment not in found:
                faults.append(f"{moment}: the run was over after cycle {run.engine.cycles}")
            else:
                faults += [f"{moment}: {fault}" for fault in differences(part, found[moment])]
        return [*faults, *_standing(found[END])] if faults else []

    def _run(self) -> Run:
        given = {key: value for key, value in self.parts.items() if key != "expect"}
        line = msgspec.convert({"id": self.path.stem, **given}, BatchLine)
        return Run(of_batch_line(line, NOTHING_SAID))


def looked_at(run: Run) -> Record:
    """What can be asked about a run as it stands."""
    result = result_of(run, lambda _: None)
    verdicts = {_gang_name(key): verdict for key, verdict in run.history.verdicts.items()}
    gangs = {}
    for key, gang in result["gangs"].items():
        name = _gang_name(key)
        verdict = verdicts.get(name)
        says = [condition["message"] or condition["reason"] for condition in gang["conditions"]]
        says += [blocker.message for blocker in verdict.blockers] if verdict else []
        gangs[name] = {**gang, "state": verdict.state if verdict else "", "says": says}
    return {
        "bound": _bare(result["binds"]),
        "promised": _bare(result["pipelined"]),
        "evicted": sorted(each["pod"].removeprefix("default/") for each in result["evictions"]),
        "gangs": gangs,
        "pods": {name: {**pod, "says": [pod["message"]]} for name, pod in _bare(result["pods"]).items()},
        "queues": result["queues"],
    }


def _bare(things: Mapping[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("default/"): value for key, value in things.items()}


def _gang_name(key: str) -> str:
    return _ADDED.sub("", key.removeprefix("default/"))


def differences(expected: Expected, found: Record) -> Iterator[str]:
    """Where a part of a picture and a cluster differ, said as one would say it of a cluster."""
    if "bound" in expected:
        yield from _placed("bound to", _spread_out(expected["bound"]), found["bound"])
    if "promised" in expected:
        yield from _placed("promised", _spread_out(expected["promised"]), found["promised"])
    if "evicted" in expected and sorted(expected["evicted"]) != found["evicted"]:
        yield f"these pods should be evicted: {expected['evicted']}, and these are: {found['evicted']}"
    for kind in ("gangs", "pods", "queues"):
        for name, parts in _spread_out(expected.get(kind, {})).items():
            if name not in found[kind]:
                yield f"there is nothing to say about {kind[:-1]} {name}"
            else:
                yield from _described(f"{kind[:-1]} {name}", parts, found[kind][name])


def _placed(how: str, expected: Mapping[str, Any], found: Mapping[str, str]) -> Iterator[str]:
    for pod in sorted({*expected, *found}):
        node, wanted = found.get(pod), expected.get(pod)
        if wanted is None:
            yield f"pod {pod} should not be {how} a node, and is: {node}"
        elif node is None:
            yield f"pod {pod} should be {how} {wanted}, and is not {how} any node"
        elif wanted != SOMEWHERE and node not in ([wanted] if isinstance(wanted, str) else wanted):
            yield f"pod {pod} should be {how} {wanted}, and is {how} {node}"


def _described(name: str, expected: Expected, found: Record) -> Iterator[str]:
    for part, value in expected.items():
        if part == "says":
            if not any(value in said for said in found["says"]):
                yield f"{name} should say {value!r}, and says {found['says']}"
        elif found[part] != value:
            yield f"{name} should have {part} {value!r}, and has {found[part]!r}"


def _spread_out(things: Mapping[str, Any]) -> dict[str, Any]:
    """Ranges of names written out."""
    result = {}
    for name, value in things.items():
        found = _RANGE.match(str(name))
        if found:
            stem, first, last = found.groups()
            result.update({f"{stem}{number}": value for number in range(int(first), int(last) + 1)})
        else:
            result[str(name)] = value
    return result


def _standing(found: Record) -> Iterator[str]:
    """How everything stands, for whoever has to find out why."""
    yield "as it stands:"
    for pod, node in sorted(found["bound"].items()):
        yield f"  pod {pod} is bound to {node}"
    for pod, told in sorted(found["pods"].items()):
        yield f"  pod {pod} waits: {told['message']}"
    for name, gang in sorted(found["gangs"].items()):
        yield f"  gang {name} is {gang['phase']} with {gang['ready']} of {gang['min']}: {'; '.join(gang['says'])}"
