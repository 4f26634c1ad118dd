"""Repairs: what was written is not what was meant, or half of it is missing.

A queue or a group that is not there is created, or the name is taken for a slip of the nearest one that is. Members
that are missing are made like those that there are. A request that no node could ever meet is cut to what the roomiest
node gives.
"""

import copy
import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from posse.cluster.names import PODS
from posse.cluster.status import Status
from posse.whatif import amounts, edits
from posse.whatif.explanation import Change, Manifest, Remedy
from posse.whatif.search import Search
from posse.whatif.situation import Source

VOLCANO = "scheduling.volcano.sh/v1beta1"
GROUP_NAME = "scheduling.k8s.io/group-name"
MOST_OFFERS = 64
"""How many smaller requests are thought of."""
MOST_NAMES = 2
"""How many names are tried in place of one that nobody has."""


def repair(search: Search, sources: Sequence[Source]) -> list[Remedy]:
    """All repairs that make the gang start."""
    if search.fact is None:
        return create_group(search)
    if not search.gang.queue.is_declared:
        return [*create_queue(search), *rename_queue(search)]
    return [*open_queue(search), *create_members(search), *cut_requests(search, sources)]


def create_group(search: Search) -> list[Remedy]:
    """Declare the group that pods name: all that are there, or none, start."""
    namespace, _, name = search.gang.key.partition("/")
    minimum = max(1, search.gang.size)
    group = {
        "apiVersion": VOLCANO,
        "kind": "PodGroup",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"minMember": minimum, "queue": "default"},
    }
    return _tried(search, "create-object", f"PodGroup {search.gang.key} with a minimum of {minimum}", Change((group,)))


def create_queue(search: Search) -> list[Remedy]:
    """Create the queue that the gang names."""
    name = search.gang.queue.key
    queue = {"apiVersion": VOLCANO, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1}}
    return _tried(search, "create-object", f"Queue {name}", Change((queue,)))


def rename_queue(search: Search) -> list[Remedy]:
    """Take the queue's name for a slip: the nearest name that there is."""
    wrong, known = search.gang.queue.key, list(search.situation.names("Queue"))
    near = [*difflib.get_close_matches(wrong, known, n=MOST_NAMES), "default"]
    declaring = search.situation.declaring(search.gang.key)
    for name in dict.fromkeys(name for name in near if name in known):
        patch = tuple(edits.with_spec(manifest, queue=name) for manifest in declaring)
        found = _tried(search, "fix-spec", f"queue {name} instead of {wrong}", Change(patch)) if patch else []
        if found:
            return found
    return []


def open_queue(search: Search) -> list[Remedy]:
    """Open a queue that is closed."""
    queue = search.gang.queue
    manifest = search.situation.find("Queue", "", queue.key)
    if queue.fact.state == "Open" or manifest is None:
        return []
    opened = {**copy.deepcopy(manifest), "status": {**manifest.get("status", {}), "state": "Open"}}
    return _tried(search, "fix-spec", f"queue {queue.key} open again", Change((opened,)))


def create_members(search: Search) -> list[Remedy]:
    """Make the members that are missing, like one that is there."""
    gang = search.gang
    missing = max(1, gang.minimum) - gang.valid_count - gang.counts[Status.GATED]
    if missing <= 0:
        return []
    example = _example(search)

    def made(count: int) -> Change:
        return Change(tuple(edits.fresh(example, f"{search.gang.fact.name}-member-{n}") for n in range(1, count + 1)))

    count = search.least(made, missing, missing)
    if count is None:
        search.tried.append(f"{missing} more {'member' if missing == 1 else 'members'}")
        return []
    like = f" like {example['metadata']['name']}" if gang.members else ""
    message = f"{count} more {'pod' if count == 1 else 'pods'} of this gang{like}"
    return [Remedy(action="create-object", message=message, patch=made(count).patch)]


def _example(search: Search) -> Manifest:
    """A member as its manifest would have it; for a gang without any, the least that a pod can be."""
    fact = search.gang.fact
    for task in search.gang.members:
        found = search.situation.find("Pod", task.fact.namespace, task.fact.name)
        if found is not None:
            spec = {key: value for key, value in found.get("spec", {}).items() if key != "nodeName"}
            return {**{key: value for key, value in found.items() if key != "status"}, "spec": spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": fact.name, "namespace": fact.namespace, "annotations": {GROUP_NAME: fact.name}},
        "spec": {"schedulerName": "volcano", "containers": [{"name": "main", "image": "pause"}]},
    }


def cut_requests(search: Search, sources: Sequence[Source]) -> list[Remedy]:
    """Cut what is asked of one resource, where no node has that much: to the most with which the gang starts."""
    cut = _out_of_reach(search)
    if cut is None:
        return []
    name, asked, offers = cut
    grain = amounts.grain(name)

    def asking(offer: int) -> Change:
        edited = [(source, edits.with_pods(source.manifest, _asking(name, offer))) for source in sources]
        changed = [(source, manifest) for source, manifest in edited if manifest != source.manifest]
        removed = (one for source, _ in changed for one in source.remade)
        return Change(tuple(manifest for _, manifest in changed), tuple(removed))

    place = None
    if offers and asking(offers[0]).patch:
        place = search.least(lambda place: asking(offers[place - 1]), 1, len(offers))
    if place is None:
        search.tried.append(f"asking for less {name}")
        return []
    more = offers[place - 2] if place > 1 else asked
    cuts = ((asked - offer) // grain for offer in (more, offers[place - 1]))
    offer = asked - grain * search.closest(lambda cut: asking(asked - grain * cut), *cuts)
    done = asking(offer)
    instead = f"{amounts.text(name, offer)} {name} per pod"
    message = f"{instead} instead of {amounts.text(name, asked)}, which no node has"
    return [Remedy(action="fix-spec", message=message, patch=done.patch, remove=done.remove)]


def _out_of_reach(search: Search) -> tuple[str, int, list[int]] | None:
    """The one resource that no node has enough of, how much is asked, and what could be asked instead, most first."""
    rows, world = search.finding.missing, search.gang.world
    if not rows:
        return None
    ledger, traits = world.columns.ledger, world.columns.traits
    request = ledger.shape_request[ledger.task_shape[rows[0]]]
    most = traits.node_allocatable.max(axis=1, initial=0)[: len(request)]
    lacking = np.flatnonzero((request > most) & (most > 0)).tolist()
    if len(lacking) != 1 or lacking[0] == PODS:
        return None
    room = np.unique(search.situation.engine.open(search.situation.now).chooser.feasibility.future_idle()[lacking[0]])
    name, asked = world.dimensions.names[lacking[0]], int(request[lacking[0]])
    grain = amounts.grain(name)
    shares = {int(free) // parts // grain * grain for free in room[room > 0] for parts in range(1, len(rows) + 1)}
    offers = sorted((share for share in shares if 0 < share < asked), reverse=True)[:MOST_OFFERS]
    return name, asked, offers


def _asking(name: str, instead: int) -> edits.PodEdit:
    """Ask for less of a resource, where one container is all that asks for it and asks for more."""

    def edit(spec: dict[str, Any]) -> None:
        wants = [c for c in spec["containers"] if name in _asked_of(c)]
        if len(wants) != 1:
            return
        for field in ("requests", "limits"):
            given = wants[0].get("resources", {}).get(field, {})
            if name in given and amounts.read(name, given[name]) > instead:
                given[name] = amounts.text(name, instead)

    return edit


def _asked_of(container: dict[str, Any]) -> dict[str, Any]:
    resources = container.get("resources", {})
    return {**resources.get("limits", {}), **resources.get("requests", {})}


def _tried(search: Search, action: Any, message: str, change: Change) -> list[Remedy]:
    if search.works(change):
        return [Remedy(action=action, message=message, patch=change.patch, remove=change.remove)]
    search.tried.append(message)
    return []
