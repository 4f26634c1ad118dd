"""Refusals: what an API server would not have taken, though it can be read.

A field that holds what none of its kind may hold is refused while it is decoded. Here is what the types do not say:
names, and what Volcano's schemas and webhooks ask of its own kinds.
"""

import re
from collections.abc import Iterator

from posse.errors import InputError, Place
from posse.kube.meta import KubeObject
from posse.kube.objects import OtherObject, PodGroup, Queue
from posse.kube.workloads import VolcanoJob

LONGEST_NAME = 253
HEAVIEST_QUEUE = 65535

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_START_OF_NAME = re.compile(r"[a-z0-9][-a-z0-9.]*")
_OF_ANY_KIND = re.compile(r"(?!\.{1,2}$)[^/%\x00-\x1f\x7f-\x9f]+")
"""What an API server asks of the names of every kind: they are a part of a path."""

NAME = f"at most {LONGEST_NAME} of a-z, 0-9, - and ., beginning and ending with a letter or digit"
LABEL = "at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit"
PART_OF_A_PATH = "a name without / and %, all of it printable"

Fault = tuple[str, str, str]
"""A field, what is wrong with it, and what is accepted."""


def refuse(thing: KubeObject) -> None:
    """Raise InputError if an API server would not have taken an object."""
    fault = next(_faults(thing), None)
    if fault is not None:
        field, message, accepted = fault
        raise InputError(message, place=Place(object=_called(thing), field=field), accepted=accepted)


def _faults(thing: KubeObject) -> Iterator[Fault]:
    yield from _faults_of_name(thing)
    match thing:
        case Queue():
            yield from _outside("spec.weight", thing.spec.weight, HEAVIEST_QUEUE)
        case PodGroup():
            yield from _outside("spec.minMember", thing.spec.min_member)
            for role, minimum in thing.spec.min_task_member.items():
                yield from _outside(f"spec.minTaskMember.{role}", minimum)
        case VolcanoJob():
            yield from _faults_of_job(thing)


def _faults_of_name(thing: KubeObject) -> Iterator[Fault]:
    meta = thing.metadata
    form, accepted = (_OF_ANY_KIND, PART_OF_A_PATH) if isinstance(thing, OtherObject) else (_NAME, NAME)
    if meta.name and not (len(meta.name) <= LONGEST_NAME and form.fullmatch(meta.name)):
        yield "metadata.name", f"{meta.name!a} is no name", accepted
    if meta.generate_name and not _START_OF_NAME.fullmatch(meta.generate_name):
        yield "metadata.generateName", f"{meta.generate_name!a} begins no name", NAME
    if thing.NAMESPACED and meta.namespace and not _LABEL.fullmatch(meta.namespace):
        yield "metadata.namespace", f"{meta.namespace!a} is no name", LABEL


def _faults_of_job(job: VolcanoJob) -> Iterator[Fault]:
    yield from _outside("spec.minAvailable", job.spec.min_available)
    names: set[str] = set()
    for number, task in enumerate(job.spec.tasks):
        if task.min_available is not None:
            yield from _outside(f"spec.tasks[{number}].minAvailable", task.min_available)
        if task.name and not _LABEL.fullmatch(task.name):
            yield f"spec.tasks[{number}].name", f"{task.name!a} is no name", LABEL
        if task.name and task.name in names:
            yield f"spec.tasks[{number}].name", f"a second task {task.name!r}", "another name for each task"
        names.add(task.name)


def _outside(field: str, value: int, most: int | None = None) -> Iterator[Fault]:
    if value < 0 or (most is not None and value > most):
        yield field, f"{value} is out of range", f"a whole number from 0 {f'to {most}' if most else 'up'}"


def _called(thing: KubeObject) -> str:
    """The object as messages name it; nothing in it moves a terminal's cursor."""
    name = str(thing)
    return name if name.isprintable() else ascii(name)[1:-1]
