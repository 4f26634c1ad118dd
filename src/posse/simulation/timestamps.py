"""The newest time that an input speaks of: what its clock showed when it was taken."""

from collections.abc import Iterable

from posse.kube.manifests import Manifest, found_at
from posse.kube.meta import KubeObject
from posse.kube.objects import Pod, PodGroup


def newest(manifests: Iterable[Manifest], otherwise: int) -> int:
    """The newest timestamp in the input, deletion times aside: they may lie ahead."""
    return max((time for manifest in manifests for time in _times_in(manifest) if time), default=otherwise)


def _times_in(manifest: Manifest) -> list[int]:
    with found_at(manifest.place):
        return _times(manifest.decode())


def _times(thing: KubeObject) -> list[int]:
    times = [thing.created]
    match thing:
        case Pod():
            times.append(thing.time(thing.status.start_time, "status.startTime"))
            times += [thing.time(each.last_transition_time, "status.conditions") for each in thing.status.conditions]
        case PodGroup():
            times += [thing.time(each.last_transition_time, "status.conditions") for each in thing.status.conditions]
    return times
