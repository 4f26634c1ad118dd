"""Which waiting gangs are admitted, so that their pods may be placed: the enqueue action.

A gang that declares no minimum resources is admitted unasked. For the others two voices count what was already
admitted and is not yet used: overcommit over the cluster, proportion over the queue.
"""

from dataclasses import dataclass, field
from typing import Literal

from posse.cluster.facts import GangFact

from .cluster import ALLOCATED, USING, Cluster
from .gangs import PENDING, members
from .proportion import allocated, gangs_of, real_capability, total_allocatable
from .quirks import MEANT, Quirks
from .resources import Resources, is_nothing, requests, resources, scaled, surplus, total, within_for

Voice = Literal["overcommit", "proportion"]
Phases = dict[str, str]

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"


@dataclass
class Admission:
    """What was promised to admitted gangs, and who is asked for more."""

    cluster: Cluster
    phases: Phases
    tiers: tuple[tuple[Voice, ...], ...] = (("overcommit", "proportion"),)
    factor: float = 1.2
    quirks: Quirks = MEANT
    promised: Resources = field(init=False)
    promised_to: dict[str, Resources] = field(init=False)

    def __post_init__(self) -> None:
        """Count what gangs that are already admitted may still take."""
        gangs = [gang for gang in self.cluster.gangs.values() if gang.queue in self.cluster.queues]
        self.promised = total(self._still_promised(gang, whole=self.quirks.counts_bound_twice) for gang in gangs)
        self.promised_to = {
            queue: total(self._still_promised(gang) for gang in gangs_of(self.cluster, queue))
            for queue in self.cluster.queues
        }

    def admit(self, gang: GangFact) -> bool:
        """Admit a gang if the voices agree, and remember what it was promised."""
        if gang.min_resources is None:
            return True
        if not self._is_permitted(gang):
            return False
        self.promised = total([self.promised, self._ungated(gang, resources(gang.min_resources))])
        return True

    def _is_permitted(self, gang: GangFact) -> bool:
        """The first tier that has a voice decides, and all its voices must permit."""
        return next((all(self._permits(voice, gang) for voice in tier) for tier in self.tiers if tier), True)

    def _permits(self, voice: Voice, gang: GangFact) -> bool:
        if voice == "overcommit":
            return self._cluster_has_room(gang)
        permitted = self._queue_has_room(gang)
        if permitted:
            wanted = self._ungated(gang, resources(gang.min_resources or ()))
            self.promised_to[gang.queue] = total([self.promised_to[gang.queue], wanted])
        return permitted

    def _cluster_has_room(self, gang: GangFact) -> bool:
        wanted = resources(gang.min_resources or ())
        in_use = requests(task for node in self.cluster.nodes for task in self.cluster.residents(node, USING))
        idle = total([scaled(total_allocatable(self.cluster), self.factor), scaled(in_use, -1.0)])
        return within_for(total([self.promised, wanted]), idle, wanted)

    def _queue_has_room(self, gang: GangFact) -> bool:
        queue = self.cluster.queues[gang.queue]
        if queue.state != "Open":
            return False
        wanted = resources(gang.min_resources or ())
        elastic = total(self._elastic(each) for each in gangs_of(self.cluster, gang.queue))
        needed = total(
            [wanted, allocated(self.cluster, gang.queue), self.promised_to[gang.queue], scaled(elastic, -1.0)]
        )
        return within_for(needed, real_capability(self.cluster, queue), wanted)

    def _elastic(self, gang: GangFact) -> Resources:
        """What a gang has beyond its minimum resources; all of it if it declares none."""
        return surplus(self._allocated(gang), resources(gang.min_resources or ()))

    def _still_promised(self, gang: GangFact, *, whole: bool = False) -> Resources:
        """What of its minimum an admitted gang has not got; `whole`: all of it, until the gang runs."""
        phase = self.phases[gang.key]
        has_minimum = len(members(self.cluster, gang, ALLOCATED)) >= gang.min_member
        if gang.min_resources is None or not (phase == "Inqueue" or (phase == "Running" and has_minimum)):
            return resources()
        wanted = resources(gang.min_resources)
        if whole and phase == "Inqueue":
            return self._ungated(gang, wanted)
        named = {name: value for name, value in self._allocated(gang).items() if name in dict(gang.min_resources)}
        return self._ungated(gang, surplus(wanted, named))

    def _allocated(self, gang: GangFact) -> Resources:
        return requests(members(self.cluster, gang, ALLOCATED))

    def _ungated(self, gang: GangFact, wanted: Resources) -> Resources:
        """Less what gated members will ask for later."""
        gated = [task for task in members(self.cluster, gang, PENDING) if task.gates and task.gates != (QUEUE_GATE,)]
        later = requests(gated)
        if is_nothing(later):
            return wanted
        return {name: max(value - later.get(name, 0.0), 0.0) for name, value in wanted.items()}
