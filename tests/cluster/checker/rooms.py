"""What lies on each node at every moment, and when that was more than the node has.

A pod takes room from when it has a node until it has ended or is gone; one that is told to leave still takes it. Only
the moment in which a pod is bound is judged, and only the resources that it asks for: nobody can help it if a node
shrinks, or if somebody else comes later.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from tests.cluster.checker.events import Event, Kind, Object, Type
from tests.cluster.checker.history import History
from tests.cluster.checker.objects import Node, Pod
from tests.cluster.checker.quantities import NONE, Amounts


@dataclass(frozen=True, slots=True)
class Lodger:
    """A pod on a node."""

    came: Event
    spec: Object
    takes: Amounts
    ours: bool


@dataclass(slots=True)
class Room:
    """What lies on a node."""

    lodgers: dict[str, Lodger] = field(default_factory=dict)
    taken: dict[str, Fraction] = field(default_factory=dict)

    def put(self, uid: str, lodger: Lodger | None) -> None:
        """Let a pod come, stay with what it now takes, or go."""
        for sign, it in ((-1, self.lodgers.pop(uid, None)), (1, lodger)):
            for name, value in it.takes.items() if it else ():
                self.taken[name] = self.taken.get(name, NONE) + sign * value
        if lodger:
            self.lodgers[uid] = lodger

    def excess(self, node: Node, asked: Amounts, since: float) -> str:
        """Say of what is asked for what is taken too much of, by all but the strangers who came since then."""
        has, known = node.allocatable, dict(self.taken)
        for it in self.lodgers.values():
            if not it.ours and it.came.at >= since:
                known = {name: value - it.takes.get(name, NONE) for name, value in known.items()}
        over = (name for name, value in asked.items() if value and known[name] > has.get(name, NONE))
        return ", ".join(f"{float(known[name]):g} of {float(has.get(name, NONE)):g} {name}" for name in over)


def overfull(
    history: History, binds: Collection[int], ours: Collection[str], slack: float
) -> Iterator[tuple[Event, str, Sequence[Event], str]]:
    """Give the binds (events, by id) that overfilled a node: event, node, how all pods of the node came, and excess."""
    rooms: defaultdict[str, Room] = defaultdict(Room)
    for event in history.events:
        if event.kind != Kind.POD:
            continue
        pod = Pod(event.object)
        room = rooms[pod.node]
        if pod.node:
            room.put(pod.uid, lodger(room.lodgers.get(pod.uid), event, pod, ours))
        if id(event) in binds and pod.uid in room.lodgers:
            asked = room.lodgers[pod.uid].takes
            nodes = [it for it in history.nodes_at(pod.node, event, slack) if it]
            excesses = [room.excess(it, asked, event.at - slack) for it in nodes]
            if excesses and all(excesses):
                yield event, pod.node, [it.came for it in room.lodgers.values()], excesses[0]


def lodger(before: Lodger | None, event: Event, pod: Pod, ours: Collection[str]) -> Lodger | None:
    """Say what a pod takes from now on. What it asks for is reckoned again only if that has changed."""
    if pod.over or event.type == Type.DELETED:
        return None
    takes = before.takes if before and before.spec == pod.spec else pod.taken
    return Lodger(before.came if before else event, pod.spec, takes, pod.scheduler in ours)
