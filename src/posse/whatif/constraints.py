"""Remove constraints: what a gang's pods demand beyond room, and would start without.

Each constraint is tried by itself. Only if none is enough are all of them dropped together, and then put back one by
one as long as the gang still starts: what remains is needed, every part of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from posse.cluster.views import Task
from posse.whatif import edits
from posse.whatif.explanation import Change, Manifest, Reference, Remedy
from posse.whatif.search import Search
from posse.whatif.situation import Source

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
MOST_TOGETHER = 6
"""How many constraints are dropped together at most."""
MOST_TAINTS = 8
"""How many taints are borne for the sake of trying."""


class Constraint(Struct, frozen=True):
    """Something that can be dropped, in words, and the edit of a pod's spec that drops it."""

    words: str
    drop: edits.PodEdit


def remove_constraints(search: Search, sources: Sequence[Source]) -> list[Remedy]:
    """Constraints without which the gang starts."""
    constraints = list(_constraints(search, sources))
    if not constraints:
        return []
    found = [[one] for one in constraints if search.works(change(sources, [one]))]
    if not found and 1 < len(constraints) <= MOST_TOGETHER and search.works(change(sources, constraints)):
        found = [_needed(search, sources, constraints)]
    if not found:
        search.tried.append(", ".join(one.words for one in constraints))
    return [_remedy(sources, each) for each in found]


def _needed(search: Search, sources: Sequence[Source], constraints: list[Constraint]) -> list[Constraint]:
    """Of constraints that are enough together, those that are all needed."""
    kept = list(constraints)
    for one in constraints:
        fewer = [each for each in kept if each is not one]
        if fewer and search.works(change(sources, fewer)):
            kept = fewer
    return kept


def _remedy(sources: Sequence[Source], dropped: list[Constraint]) -> Remedy:
    done = change(sources, dropped)
    where = " and ".join(edits.name_of(manifest) for manifest in done.patch[:2])
    where += f" and {len(done.patch) - 2} more" if len(done.patch) > 2 else ""
    message = f"{' and '.join(one.words for one in dropped)} ({where})"
    return Remedy(action="remove-constraint", message=message, patch=done.patch, remove=done.remove)


def change(sources: Iterable[Source], dropped: Sequence[Constraint]) -> Change:
    """The sources that have something to drop, without it."""
    patch: list[Manifest] = []
    removed: list[Reference] = []
    for source in sources:
        edited = source.manifest
        for one in dropped:
            edited = edits.with_pods(edited, one.drop)
        if edited != source.manifest:
            patch.append(edited)
            removed += source.remade
    return Change(tuple(patch), tuple(removed))


# ---------------------------------------------------------------------- what there is to drop


def _constraints(search: Search, sources: Sequence[Source]) -> Iterator[Constraint]:
    """Every constraint of the pods, each once."""
    told: set[str] = set()
    specs = [spec for source in sources for spec in edits.pod_specs(source.manifest)]
    for spec in specs:
        for one in [*_gates(spec), *_selectors(spec), *_affinities(spec), *_spreads(spec), *_ports(spec)]:
            if one.words not in told:
                told.add(one.words)
                yield one
    yield from _tolerations(search)


def _gates(spec: dict[str, Any]) -> Iterator[Constraint]:
    for gate in spec.get("schedulingGates", []):
        yield Constraint(f"without the scheduling gate {gate['name']}", _without("schedulingGates", gate))


def _selectors(spec: dict[str, Any]) -> Iterator[Constraint]:
    for key, value in sorted(spec.get("nodeSelector", {}).items()):
        yield Constraint(f"without the node selector {key}={value}", _without_selector(key, value))


def _affinities(spec: dict[str, Any]) -> Iterator[Constraint]:
    affinity = spec.get("affinity", {})
    if affinity.get("nodeAffinity", {}).get(REQUIRED):
        yield Constraint("without the required node affinity", _without_required("nodeAffinity", None))
    for kind, words in (("podAffinity", "affinity"), ("podAntiAffinity", "anti-affinity")):
        for term in affinity.get(kind, {}).get(REQUIRED) or []:
            yield Constraint(
                f"without the required pod {words} by {term.get('topologyKey')}", _without_required(kind, term)
            )


def _spreads(spec: dict[str, Any]) -> Iterator[Constraint]:
    for constraint in spec.get("topologySpreadConstraints", []):
        if constraint.get("whenUnsatisfiable") == "DoNotSchedule":
            words = f"without the required spread over {constraint.get('topologyKey')}"
            yield Constraint(words, _without("topologySpreadConstraints", constraint))


def _ports(spec: dict[str, Any]) -> Iterator[Constraint]:
    ports = {
        port["hostPort"]
        for container in spec["containers"]
        for port in container.get("ports", [])
        if port.get("hostPort")
    }
    for port in sorted(ports):
        yield Constraint(f"without the host port {port}", _without_host_port(port))


def _tolerations(search: Search) -> Iterator[Constraint]:
    """For each taint that a member does not bear: bear it."""
    if not search.finding.refused:
        return
    world = search.gang.world
    facts = (world.nodes.facts[row] for row in world.nodes.declared())
    taints = {
        taint for fact in facts if fact is not None for taint in fact.taints if taint.effect != "PreferNoSchedule"
    }
    borne = [toleration for row in search.finding.missing for toleration in Task(world, row).shape.tolerations]
    for taint in sorted(taints, key=str)[:MOST_TAINTS]:
        same = {"key": taint.key, "effect": taint.effect}
        if not any(one.key in ("", taint.key) and one.operator == "Exists" for one in borne):
            more = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
            yield Constraint(f"with a toleration of {taint}", _with_toleration({**same, **more}))


# ---------------------------------------------------------------------- how it is dropped


def _without(field: str, entry: Any) -> edits.PodEdit:
    def drop(spec: dict[str, Any]) -> None:
        if entry in spec.get(field, []):
            spec[field] = [each for each in spec[field] if each != entry]
            if not spec[field]:
                del spec[field]

    return drop


def _without_selector(key: str, value: str) -> edits.PodEdit:
    def drop(spec: dict[str, Any]) -> None:
        selector = spec.get("nodeSelector", {})
        if selector.get(key) == value:
            del selector[key]
            if not selector:
                del spec["nodeSelector"]

    return drop


def _without_required(kind: str, term: Any) -> edits.PodEdit:
    """Drop one required term of an affinity, or all of them."""

    def drop(spec: dict[str, Any]) -> None:
        affinity = (spec.get("affinity") or {}).get(kind) or {}
        terms = affinity.get(REQUIRED)
        if not terms or (term is not None and term not in terms):
            return
        left = [] if term is None else [each for each in terms if each != term]
        if left:
            affinity[REQUIRED] = left
        else:
            del affinity[REQUIRED]

    return drop


def _without_host_port(port: int) -> edits.PodEdit:
    def drop(spec: dict[str, Any]) -> None:
        for container in spec["containers"]:
            for each in container.get("ports", []):
                if each.get("hostPort") == port:
                    del each["hostPort"]

    return drop


def _with_toleration(toleration: dict[str, str]) -> edits.PodEdit:
    def add(spec: dict[str, Any]) -> None:
        spec["tolerations"] = [*spec.get("tolerations", []), toleration]

    return add
