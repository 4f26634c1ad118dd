"""Many runs from one process: a scenario per line in, a result per line out, in order.

Scenarios do not see each other. Bad input makes an error of its line, naming object and field, and so does a fault of
ours; the next line is read in any case.
"""

import difflib
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from posse.errors import InputError, Place
from posse.kube.decoding import convert
from posse.simulation.explaining import explanations
from posse.simulation.places import NOWHERE
from posse.simulation.result import Record, result_of
from posse.simulation.run import Run
from posse.simulation.scenario import NOTHING_SAID, BatchLine, Scenario, of_batch_line


def answer_line(line: dict[str, Any], defaults: Scenario = NOTHING_SAID) -> Record:
    """Run the scenario of one line."""
    name = line.get("id") if isinstance(line, dict) else None
    try:
        read = convert(line, BatchLine, NOWHERE)
        _refuse_misspelled(line)
        run = Run(of_batch_line(read, defaults))
        run.to_the_end()
        return {"id": read.id, **result_of(run, explanations(run))}
    except InputError as fault:
        return {"id": name, "error": _error(fault)}
    except (Exception, SystemExit) as fault:  # whatever it is, the other lines have nothing to do with it
        return {"id": name, "error": _error(_our_own(fault))}


def answer_lines(lines: Iterable[bytes], defaults: Scenario) -> Iterator[bytes]:
    """Run the scenarios of many lines."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                answer = answer_line(msgspec.json.decode(line), defaults)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
                place = Place(file="stdin", line=number)  # nobody knows its id
                error = InputError(f"is no JSON: {fault}", place=place, accepted="JSON in UTF-8")
                answer = {"id": None, "error": _error(error)}
            yield _encoded(answer) + b"\n"


def _encoded(answer: Record) -> bytes:
    try:
        return msgspec.json.encode(answer)
    except (TypeError, ValueError) as fault:  # something in it is nothing that JSON knows
        return msgspec.json.encode({"id": answer["id"], "error": _error(_our_own(fault))})


def _refuse_misspelled(line: dict[str, Any]) -> None:
    """A field that looks like one of ours and is none would be left out in silence."""
    known = [field.encode_name for field in msgspec.structs.fields(BatchLine)]
    for name in line:
        near = [] if name in known else difflib.get_close_matches(name, known, n=1, cutoff=0.75)
        if near:
            message = f"unknown field {name!r}; did you mean {near[0]!r}?"
            raise InputError(message, place=Place(field=name), accepted=", ".join(known))


def _our_own(fault: BaseException) -> InputError:
    """A fault of ours in the form of one of the input: a line has one answer, whoever is to blame."""
    *_, last = traceback.extract_tb(fault.__traceback__)
    where = f"{Path(last.filename).name}, line {last.lineno}, in {last.name}"
    what = f"{type(fault).__name__}: {str(fault).partition(chr(10))[0]}"
    return InputError(f"Posse itself failed here; your input may well be right ({what}; {where})")


def _error(fault: InputError) -> Record:
    return {
        "file": fault.place.file or None,
        "line": fault.place.line or None,
        "object": fault.place.object or None,
        "field": fault.place.field or None,
        "message": fault.message,
        "accepted": fault.accepted or None,
    }
