"""What a pod says of its own life in a simulation: when it arrives, how long it runs, how it ends."""

import re

from msgspec import Struct

from posse.errors import InputError, Place
from posse.kube.objects import Pod
from posse.scheduler.conf_scalars import duration

MOST_EXIT_CODE = 255
_CODE = re.compile(r"\d{1,3}", re.ASCII)

ARRIVAL, RUN_TIME, EXIT = "posse.dev/arrival", "posse.dev/run-time", "posse.dev/exit"


class Wishes(Struct, frozen=True):
    """A pod's annotations about its life. Times in nanoseconds; without a run time it runs for ever."""

    arrival: int = 0
    run_time: int | None = None
    fails: bool = False


LIVES_ON = Wishes()


def wishes_of(pod: Pod) -> Wishes:
    """Read a pod's annotations about its life."""
    annotations = pod.metadata.annotations
    if not any(key in annotations for key in (ARRIVAL, RUN_TIME, EXIT)):
        return LIVES_ON
    return Wishes(
        arrival=_time(pod, ARRIVAL) or 0,
        run_time=_time(pod, RUN_TIME),
        fails=_fails(pod, annotations.get(EXIT, "0")),
    )


def _time(pod: Pod, key: str) -> int | None:
    text = pod.metadata.annotations.get(key)
    if text is None:
        return None
    time = duration(text)
    if time is None or time < 0:
        place = Place(object=str(pod), field=f"metadata.annotations[{key}]")
        raise InputError(f"{text!r} is no length of time", place=place, accepted="a duration such as 90s, 10m or 1h30m")
    return time


def _fails(pod: Pod, text: str) -> bool:
    """A pod ends well, or as `failed`, or with an exit code."""
    if text in ("failed", "succeeded"):
        return text == "failed"
    if not _CODE.fullmatch(text) or int(text) > MOST_EXIT_CODE:
        place = Place(object=str(pod), field=f"metadata.annotations[{EXIT}]")
        accepted = f"failed, succeeded or an exit code from 0 to {MOST_EXIT_CODE}"
        raise InputError(f"{text!r} is no way to end", place=place, accepted=accepted)
    return int(text) != 0
