"""A run as a timeline: what changed, cycle by cycle."""

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from posse.simulation.report.layout import STYLES, heading
from posse.simulation.report.words import counted, places, span
from posse.simulation.timeline import Loss, Moment, Placement, Turn

MARGIN = 4


def timeline_of(moments: Iterable[Moment]) -> Iterator[RenderableType]:
    """The whole timeline."""
    yield heading("TIMELINE")
    for moment in moments:
        lines = list(happenings(moment))
        if lines:
            yield clock(moment)
            yield from (Padding(line, (0, 0, 0, MARGIN)) for line in lines)


def clock(moment: Moment) -> Text:
    """When a moment was."""
    return Text.assemble((span(moment.time / 1e9), "bold"), (f"  cycle {moment.cycle}", "dim"))


def happenings(moment: Moment) -> Iterator[Text]:
    """What happened in a moment, a line each: who ended, who lost pods, who got nodes, who waits."""
    ended = [turn for turn in moment.turns if turn.after in ("finished", "empty")]
    yield from map(_turned, ended)
    yield from map(_lost, moment.losses)
    yield from map(_placed, moment.placements)
    yield from (_turned(turn) for turn in moment.turns if turn not in ended and not _goes_without_saying(turn, moment))


def _goes_without_saying(turn: Turn, moment: Moment) -> bool:
    """Whether a turn only follows from pods that got their nodes, now or just before."""
    placed = turn.gang in {placement.gang for placement in moment.placements}
    return (turn.after == "placed" and placed) or (turn.before, turn.after) == ("placed", "running")


def _turned(turn: Turn) -> Text:
    text = Text.assemble((turn.gang, "bold"), " ")
    match turn.after:
        case "empty":
            return text.append("is gone", style="dim")
        case "waiting" if not turn.before:
            text.append("waits", style=STYLES["waiting"])
        case "waiting":
            text.append("waits again", style=STYLES["waiting"])
        case "running":
            text.append("runs", style=STYLES["running"])
        case "finished":
            return text.append("is finished", style=STYLES["finished"])
        case _:
            text.append(f"is {turn.after}", style=STYLES.get(turn.after, ""))
    members = f" of {turn.members}" if turn.members != turn.minimum else ""
    return text.append(f" ({turn.ready} ready, needs {turn.minimum}{members})", style="dim")


def _lost(loss: Loss) -> Text:
    why = f" ({loss.reason})" if loss.reason else ""
    whence = f" from {loss.node} for {loss.by}, by {loss.action}{why}"
    return Text.assemble((loss.pod, "bold"), " ", ("is evicted", "red"), whence)


def _placed(placement: Placement) -> Text:
    pods = counted(sum(count for _, count in placement.nodes), "pod")
    where = f" on {places(dict(placement.nodes))}"
    return Text.assemble((placement.gang, "bold"), " ", (f"starts {pods}", "green"), where)
