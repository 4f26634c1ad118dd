"""Hold an answer against what was recorded, fact by fact.

A recorded world says only what is certain: where the peer breaks ties by chance, nothing was written down. So the
recorded side leads: each rule below walks over what it says of one field and asks the answer for the same. `MAIN`
are the decisions; `DETAIL` is what objects then say about them. An answer that has nothing to say where something
was recorded is silent there, and silence is as wrong as a wrong word. Binds, promised nodes and evictions are never
silent: none named means none made.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cases import Case, Json
from topology import domains, key_of

GROUP_NAME = "scheduling.k8s.io/group-name"


@dataclass(frozen=True)
class Fact:
    """One recorded fact and what the answer says of it; `found` is None where it says nothing."""

    field: str
    where: str
    wanted: Any
    found: Any

    @property
    def right(self) -> bool:
        """Tell whether the answer agrees."""
        return self.found is not None and bool(self.found == self.wanted)


@dataclass(frozen=True)
class Sides:
    """One world with both sides, and what several rules need of them."""

    case: Case
    answer: Json

    def recorded(self, key: str) -> Json:
        """What was recorded under a key that maps names to facts."""
        return self.case.expect.get(key) or {}

    def exact(self, key: str) -> bool:
        """Tell whether a field never varied, so that absence means none."""
        return key in self.case.expect.get("exact", ())

    @cached_property
    def gang_of(self) -> dict[str, str]:
        """Gang of each pod that names one."""
        result = {}
        for each in self.case.objects:
            group = each["metadata"].get("annotations", {}).get(GROUP_NAME)
            if each["kind"] == "Pod" and group:
                result[key_of(each)] = f"{each['metadata'].get('namespace', 'default')}/{group}"
        return result

    @cached_property
    def binds(self) -> dict[str, str]:
        """Pods bound and their nodes, as answered."""
        return dict(sorted((self.answer.get("binds") or {}).items()))

    @cached_property
    def pipelined(self) -> dict[str, str]:
        """Pods promised a node and the nodes, as answered."""
        return dict(sorted((self.answer.get("pipelined") or {}).items()))

    @cached_property
    def evicted(self) -> list[str]:
        """Pods evicted, as answered, in order."""
        return [each["pod"] if isinstance(each, dict) else each for each in self.answer.get("evictions") or ()]

    def per_gang(self, pods: Iterable[str]) -> Counter[str]:
        """Count pods by gang; pods without one do not count."""
        return Counter(self.gang_of[pod] for pod in pods if pod in self.gang_of)


Triple = tuple[str, Any, Any]
"""Where, wanted, found."""

Rule = Callable[[Sides], Iterable[Triple]]


def counted(sides: Sides, key: str, pods: Iterable[str]) -> Iterator[Triple]:
    """Compare a number of pods per gang."""
    counts = sides.per_gang(pods)
    return ((gang, wanted, counts[gang]) for gang, wanted in sides.recorded(key).items())


def placed(sides: Sides, key: str, nodes: Mapping[str, str]) -> Iterator[Triple]:
    """Compare pods and their nodes: all at once where the field never varied, else those that never varied."""
    recorded = sides.recorded(key)
    if sides.exact(key):
        yield "all", recorded, nodes
    else:
        yield from ((pod, wanted, nodes.get(pod, "(none)")) for pod, wanted in recorded.items())


def bound_pods(sides: Sides) -> Iterator[Triple]:
    """Compare which pods of a gang were bound."""
    for gang, wanted in sides.recorded("boundPods").items():
        yield gang, wanted, [pod for pod in sides.binds if sides.gang_of.get(pod) == gang]


def bound_nodes(sides: Sides) -> Iterator[Triple]:
    """Compare how many pods of a gang were bound to which node."""
    for gang, wanted in sides.recorded("boundNodes").items():
        nodes = (node for pod, node in sides.binds.items() if sides.gang_of.get(pod) == gang)
        yield gang, wanted, dict(Counter(nodes))


def gang_domains(sides: Sides) -> Iterator[Triple]:
    """Compare which hypernode of each tier holds a gang."""
    recorded = sides.recorded("domains")
    if recorded:
        found = domains(sides.case.objects, sides.gang_of, sides.binds, set(sides.evicted))
        yield from ((gang, wanted, found.get(gang, {})) for gang, wanted in recorded.items())


def evictions_count(sides: Sides) -> Iterator[Triple]:
    """Compare the number of evictions."""
    if "evictionsCount" in sides.case.expect:
        yield "all", sides.case.expect["evictionsCount"], len(sides.evicted)


def evictions(sides: Sides) -> Iterator[Triple]:
    """Compare who was evicted, where that never varied."""
    if sides.exact("evictions"):
        yield "all", sides.case.expect.get("evictions", []), sorted(sides.evicted)


def evicted_always(sides: Sides) -> Iterator[Triple]:
    """Compare who was evicted every time, where others were evicted sometimes."""
    always = sides.case.expect.get("evictedAlways")
    if always is not None and not sides.exact("evictions"):
        yield "all", always, sorted(set(always) & set(sides.evicted))


def evictions_in_order(sides: Sides) -> Iterator[Triple]:
    """Compare the order of evictions."""
    if "evictionsInOrder" in sides.case.expect:
        yield "all", sides.case.expect["evictionsInOrder"], sides.evicted


def of_gang(key: str) -> Rule:
    """Make a rule that compares one word or number of each gang."""

    def rule(sides: Sides) -> Iterator[Triple]:
        answered = sides.answer.get("gangs") or {}
        for gang, wanted in sides.recorded("gangs").items():
            if key in wanted:
                yield gang, wanted[key], answered.get(gang, {}).get(key)

    return rule


def conditions(sides: Sides) -> Iterator[Triple]:
    """Compare a gang's conditions by type, status and reason, in any order; messages are the peer's own words."""

    def gist(listed: list[Json]) -> list[tuple[str, str, str]]:
        return sorted((each["type"], each["status"], each.get("reason", "")) for each in listed)

    for gang, wanted, found in of_gang("conditions")(sides):
        yield gang, gist(wanted), None if found is None else gist(found)


def of_pod(key: str) -> Rule:
    """Make a rule that compares one word of each pod that was told why it waits; a pod not told has the empty word."""

    def rule(sides: Sides) -> Iterator[Triple]:
        answered = sides.answer.get("pods")
        for pod, wanted in sides.recorded("pods").items():
            if key in wanted:
                yield pod, wanted[key], None if answered is None else answered.get(pod, {}).get(key, "")

    return rule


def queues(sides: Sides) -> Iterator[Triple]:
    """Compare what each queue has allocated."""
    answered = sides.answer.get("queues")
    for queue, wanted in sides.recorded("queues").items():
        found = None if answered is None else answered.get(queue, {})
        yield queue, wanted, None if found is None else found.get("allocated", found)


def devices(sides: Sides) -> Iterator[Triple]:
    """Compare which cards a pod was given."""
    answered = sides.answer.get("devices") or {}
    yield from ((pod, wanted, answered.get(pod)) for pod, wanted in sides.recorded("devices").items())


MAIN: Mapping[str, Rule] = {
    "bound": lambda sides: counted(sides, "bound", sides.binds),
    "boundPods": bound_pods,
    "boundNodes": bound_nodes,
    "domains": gang_domains,
    "binds": lambda sides: placed(sides, "binds", sides.binds),
    "evictionsCount": evictions_count,
    "evictedByGang": lambda sides: counted(sides, "evictedByGang", sides.evicted),
    "evictions": evictions,
    "evictedAlways": evicted_always,
    "pipelinedCount": lambda sides: counted(sides, "pipelinedCount", sides.pipelined),
    "pipelined": lambda sides: placed(sides, "pipelined", sides.pipelined),
    "phase": of_gang("phase"),
}
"""The decisions."""

DETAIL: Mapping[str, Rule] = {
    "evictionsInOrder": evictions_in_order,
    "running": of_gang("running"),
    "conditions": conditions,
    "reason": of_pod("reason"),
    "nominatedNodeName": of_pod("nominatedNodeName"),
    "queues": queues,
    "devices": devices,
}
"""What objects then say about the decisions."""

FIELDS: Mapping[str, Rule] = {**MAIN, **DETAIL}

ERROR = "error"
"""The field under which an answer that is an error disagrees, whatever was recorded."""


def facts(case: Case, answer: Json) -> Iterator[Fact]:
    """Hold an answer against all that was recorded of a world."""
    if "error" in answer:
        yield Fact(ERROR, "all", "a result", answer["error"])
        return
    sides = Sides(case, answer)
    for field, rule in FIELDS.items():
        yield from (Fact(field, where, wanted, found) for where, wanted, found in rule(sides))


def wrong(case: Case, answer: Json, fields: Collection[str] = FIELDS) -> list[Fact]:
    """List the facts of these fields that an answer gets wrong; an error is wrong in every field."""
    return [fact for fact in facts(case, answer) if not fact.right and (fact.field in fields or fact.field == ERROR)]
