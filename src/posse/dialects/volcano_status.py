"""What Volcano's objects say of a verdict: PodGroup phase, counts, conditions and events, in Volcano's words.

Pure: the status that stood, the verdict, the time; out comes the status that should stand. A condition of a type
replaces the one of that type, where it stood; its time moves only when something in it changed.
"""

from typing import Literal

from msgspec import Struct, structs

from posse.cluster.verdict import Verdict
from posse.kube.meta import rfc3339
from posse.kube.objects import PodGroupStatus
from posse.kube.pods import Condition

UNSCHEDULABLE, SCHEDULED = "Unschedulable", "Scheduled"
NOT_ENOUGH = "NotEnoughResources"
READY = "tasks in gang are ready to be scheduled"
WAITING_PHASES = ("Unknown", "Pending", "Inqueue")


class Event(Struct, frozen=True):
    """Something to tell whoever watches an object."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


def status_of(before: PodGroupStatus, verdict: Verdict, now: int) -> PodGroupStatus:
    """The status of a PodGroup after a verdict."""
    conditions = before.conditions
    if verdict.members:
        conditions = _with(conditions, _condition(verdict), now)
    return PodGroupStatus(
        phase=verdict.phase,
        conditions=conditions,
        running=verdict.running,
        succeeded=verdict.succeeded,
        failed=verdict.failed,
    )


def event_of(before: PodGroupStatus, after: PodGroupStatus, verdict: Verdict) -> Event | None:
    """The event that goes with a changed status, if one does. A group that nobody belongs to yet has none."""
    if not verdict.members:
        return None
    if verdict.phase in WAITING_PHASES and not verdict.was_ready:
        return Event("Warning", UNSCHEDULABLE, _complaint(verdict))
    return Event("Normal", SCHEDULED, "pod group is ready") if before != after else None


def _condition(verdict: Verdict) -> Condition:
    if verdict.was_ready:
        return Condition(type=SCHEDULED, status="True", reason=READY)
    return Condition(type=UNSCHEDULABLE, status="True", reason=NOT_ENOUGH, message=_complaint(verdict))


def _complaint(verdict: Verdict) -> str:
    """The same words in condition and event. Volcano's event counts all that wait, its condition those that are short;
    people read both of one gang.
    """
    return f"{verdict.unschedulable}/{verdict.members} tasks in gang unschedulable: {verdict.message}"


def _with(conditions: tuple[Condition, ...], new: Condition, now: int) -> tuple[Condition, ...]:
    at = next((number for number, one in enumerate(conditions) if one.type == new.type), None)
    if at is None:
        return (*conditions, structs.replace(new, last_transition_time=rfc3339(now)))
    stood = conditions[at]
    if (stood.status, stood.reason, stood.message) == (new.status, new.reason, new.message):
        return conditions
    changed = structs.replace(new, last_transition_time=rfc3339(now))
    return (*conditions[:at], changed, *conditions[at + 1 :])
