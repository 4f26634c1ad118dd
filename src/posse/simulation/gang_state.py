"""How a gang of a result stands: its state in one word."""

from posse.simulation.result import Record

STARTED = ("running", "placed", "finished")


def state_of(gang: Record) -> str:
    """The state of a gang's record, by its explanation, else by its numbers. A gang without any member is `empty`."""
    members, explanation = gang["members"], gang["explanation"]
    if not members:
        return "empty"
    if explanation is not None:
        return str(explanation["state"])
    if gang["succeeded"] + gang["failed"] == members:
        return "finished"
    if gang["ready"] < gang["min"]:
        return "waiting"
    return "running" if gang["running"] else "placed"


def has_started(gang: Record) -> bool:
    """Whether a gang has what it asked for, or had it and is done."""
    return state_of(gang) in STARTED


def is_wanted(gang: Record) -> bool:
    """Whether anything is to start: a gang that has no members and needs none asks for nothing."""
    return bool(gang["members"] or gang["min"])


def is_single(gang: Record) -> bool:
    """Whether a gang is one pod that belongs to nothing."""
    return bool(gang["dialect"] == "plain" and gang["members"] == 1 and gang["min"] == 1)
