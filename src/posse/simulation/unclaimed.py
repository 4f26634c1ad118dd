"""Unclaimed gangs: pods name a group, and nobody declared it. Or no longer does.

No cycle comes to such a gang, so no verdict speaks of it, whether or not some of its members have run since before.
What is to be told is told here: that the group is missing, to the gang and to each pod that waits.
"""

from collections.abc import Iterator

from posse.cluster.status import Status
from posse.cluster.verdict import GangState, PodVerdict
from posse.cluster.views import Gang
from posse.cluster.world import World
from posse.dialects.volcano import DEFAULT_QUEUE
from posse.kube.encoding import manifest_of
from posse.kube.meta import Metadata
from posse.kube.objects import PodGroup, PodGroupSpec
from posse.simulation.run import Run
from posse.simulation.situation import SimulatedSituation
from posse.whatif.explanation import Change, Explanation, Remedy
from posse.whatif.obstacles import obstacles
from posse.whatif.probe import Finding

WAITS = (Status.PENDING, Status.GATED)
OVER = (Status.SUCCEEDED, Status.FAILED, Status.RELEASING)
REASON = "Unschedulable"


def unclaimed(world: World) -> Iterator[Gang]:
    """The gangs that pods name and nobody declared."""
    for row in world.gangs.rows():
        if world.gangs.facts[row] is None and world.gangs.keys[row] and (gang := Gang(world, row)).size:
            yield gang


def explained(situation: SimulatedSituation, key: str, runs: int) -> Explanation | None:
    """The explanation of a gang that nobody declared; None of any other. `runs` says how many may be tried."""
    engine = situation.engine
    gang = next((each for each in unclaimed(engine.world) if each.key == key), None)
    if gang is None:
        return None
    missing, counts = obstacles(gang, engine.tiers, None, Finding()), gang.counts
    if not any(counts[status] for status in WAITS):
        state: GangState = "running" if counts[Status.RUNNING] else "placed"
        if sum(counts[status] for status in OVER) == gang.size:
            state = "finished"
        return Explanation(state=state, summary=f"is {state}, though {missing[0].message}")
    remedy = _declared(gang)
    if not runs:
        summary = f"waits: {missing[0].message}; nothing was tried that may help"
        return Explanation(state="waiting", summary=summary, blockers=missing, searched="cut")
    if _starts(situation, remedy, key):
        summary = f"would start with {remedy.message}"
        return Explanation(state="waiting", summary=summary, blockers=missing, remedies=(remedy,))
    summary = f"waits: {missing[0].message}; what was tried does not help: {remedy.message}"
    return Explanation(state="waiting", summary=summary, blockers=missing)


def _declared(gang: Gang) -> Remedy:
    """A group for all members that are there."""
    namespace, _, name = gang.key.partition("/")
    group = PodGroup(
        metadata=Metadata(namespace=namespace, name=name),
        spec=PodGroupSpec(min_member=gang.size, queue=DEFAULT_QUEUE),
    )
    message = f"PodGroup {gang.key} with a minimum of {gang.size}"
    return Remedy(action="create-object", message=message, patch=(manifest_of(group),))


def _starts(situation: SimulatedSituation, remedy: Remedy, gang: str) -> bool:
    trial = situation.trial(Change(remedy.patch))
    try:
        return trial.starts(gang)
    finally:
        trial.close()


def told(run: Run) -> dict[str, PodVerdict]:
    """What the pods of such gangs are told that wait."""
    return {
        task.key: PodVerdict(pod=task.key, uid=task.fact.uid, reason=REASON, message=missing[0].message)
        for gang in unclaimed(run.engine.world)
        if (missing := obstacles(gang, run.engine.tiers, None, Finding()))
        for task in gang.members
        if task.status is Status.PENDING
    }
