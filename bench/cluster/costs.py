"""Costs: CPU of each process, what others took of the machine, and the requests that the server counted."""

import os
import re
from collections import Counter
from pathlib import Path

from msgspec import Struct

TICK = os.sysconf("SC_CLK_TCK")
_COUNTED = re.compile(r"^apiserver_request_total\{(.*)\} ([0-9.e+]+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
WRITES = frozenset({"POST", "PUT", "PATCH", "APPLY", "DELETE"})


class Usage(Struct, frozen=True):
    """CPU seconds up to a moment."""

    wall: float
    by_process: dict[str, float]
    busy: float
    """Of the whole machine."""


def usage(processes: dict[str, int], wall: float) -> Usage:
    """Look at processes by name, each with its threads."""
    return Usage(wall, {name: _cpu(pid) for name, pid in processes.items()}, _busy())


def spent(before: Usage, after: Usage) -> dict[str, float]:
    """CPU seconds of each process in between, and the part of the machine that others took."""
    by_process = {name: after.by_process[name] - before.by_process[name] for name in before.by_process}
    capacity = (after.wall - before.wall) * (os.cpu_count() or 1)
    others = max(0.0, after.busy - before.busy - sum(by_process.values())) / capacity if capacity else 0.0
    return {**by_process, "others": others}


def writes_in(metrics: str) -> Counter[str]:
    """Writes that an API server has counted, by what they were."""
    found: Counter[str] = Counter()
    for labels, value in _COUNTED.findall(metrics):
        said = dict(_LABEL.findall(labels))
        if said.get("verb") in WRITES:
            part = f"{said['resource']}/{said['subresource']}" if said.get("subresource") else said.get("resource", "")
            found[f"{said['verb']} {part}"] += int(float(value))
    return found


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def _busy() -> float:
    user, nice, system, _, _, irq, softirq, steal, *_ = (int(x) for x in Path("/proc/stat").read_text().split()[1:11])
    return (user + nice + system + irq + softirq + steal) / TICK
