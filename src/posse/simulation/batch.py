"""Many runs from one process: a scenario per line in, a result per line out, in order.

Scenarios do not see each other. Bad input makes an error of its line, naming object and field, and the next line is
read.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from posse.errors import InputError
from posse.simulation.explaining import explanations
from posse.simulation.result import Record, result_of
from posse.simulation.run import Run
from posse.simulation.scenario import NOTHING_SAID, BatchLine, Scenario, of_batch_line


def answer_line(line: dict[str, Any], defaults: Scenario = NOTHING_SAID) -> Record:
    """Run the scenario of one line."""
    name = line.get("id") if isinstance(line, dict) else None
    try:
        read = msgspec.convert(line, BatchLine)
        run = Run(of_batch_line(read, defaults))
        run.to_the_end()
        return {"id": read.id, **result_of(run, explanations(run))}
    except msgspec.ValidationError as fault:
        message, _, path = str(fault).partition(" - at `$")
        field = path.rstrip("`").lstrip(".")
        return {"id": name, "error": _error(InputError(message), field or None)}
    except InputError as fault:
        return {"id": name, "error": _error(fault, fault.place.field or None)}


def answer_lines(lines: Iterable[bytes], defaults: Scenario) -> Iterator[bytes]:
    """Run the scenarios of many lines."""
    for line in lines:
        if line.strip():
            try:
                answer = answer_line(msgspec.json.decode(line), defaults)
            except msgspec.DecodeError as fault:
                answer = {"id": None, "error": _error(InputError(f"is no JSON: {fault}"), None)}
            yield msgspec.json.encode(answer) + b"\n"


def _error(fault: InputError, field: str | None) -> Record:
    return {
        "file": fault.place.file or None,
        "object": fault.place.object or None,
        "field": field,
        "message": fault.message,
        "accepted": fault.accepted or None,
    }
