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
        yield clock(moment)
        for line in happenings(moment):
            yield Padding(line, (0, 0, 0, MARGIN))


def clock(moment: Moment) -> Text:
    """When a moment was."""
    return Text.assemble((span(moment.time / 1e9), "bold"), (f"  cycle {moment.cycle}", "dim"))


def happenings(moment: Moment) -> Iterator[Text]:
    """What happened in a moment, a line each: who turned, who lost pods, who got nodes."""
    placed = {placement.gang for placement in moment.placements}
    for turn in moment.turns:
        if turn.gang not in placed or turn.after != "placed":
            yield _turned(turn)
    for loss in moment.losses:
        yield _lost(loss)
    for placement in moment.placements:
        yield _placed(placement)


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
    return Text.assemble((loss.pod, "bold"), " ", ("is evicted", "red"), f" from {loss.node} for {loss.by}, by {loss.action}{why}")


def _placed(placement: Placement) -> Text:
    pods = counted(sum(count for _, count in placement.nodes), "pod")
    return Text.assemble((placement.gang, "bold"), " ", (f"starts {pods}", "green"), f" on {places(dict(placement.nodes))}")
