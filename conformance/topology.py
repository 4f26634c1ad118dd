"""Where gangs stand in the tree of HyperNodes: for each tier, which of its hypernodes holds the whole gang.

A hypernode's members are nodes (by exact name, pattern or labels) or other hypernodes, by exact name.
"""

import re
from collections.abc import Collection, Mapping

from cases import Json

Tiers = dict[int, dict[str, set[str]]]
"""Tier, hypernode, the nodes inside it, members of members included."""


def key_of(manifest: Json) -> str:
    """Namespace and name of a manifest."""
    metadata = manifest["metadata"]
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"


def members(selector: Json, nodes: Mapping[str, Json]) -> set[str]:
    """Pick the nodes that a member's selector means."""
    if "exactMatch" in selector:
        return {selector["exactMatch"]["name"]} & set(nodes)
    if "regexMatch" in selector:
        return {name for name in nodes if re.search(selector["regexMatch"]["pattern"], name)}
    wanted = selector["labelMatch"]["matchLabels"].items()
    return {name for name, labels in nodes.items() if wanted <= labels.items()}


def tiers(objects: list[Json]) -> Tiers:
    """Resolve the HyperNodes among the objects down to their nodes."""
    nodes = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in objects if each["kind"] == "Node"}
    made = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == "HyperNode"}

    def inside(name: str) -> set[str]:
        found: set[str] = set()
        for member in made.get(name, {}).get("members", []):
            below = member["type"] == "HyperNode"
            found |= inside(member["selector"]["exactMatch"]["name"]) if below else members(member["selector"], nodes)
        return found

    result: Tiers = {}
    for name, spec in sorted(made.items()):
        result.setdefault(spec["tier"], {})[name] = inside(name)
    return result


def standing(objects: list[Json]) -> dict[str, str]:
    """Map the pods that hold a node from the start to that node."""
    return {
        key_of(each): each["spec"]["nodeName"]
        for each in objects
        if each["kind"] == "Pod" and each["spec"].get("nodeName") and each["status"]["phase"] in ("Running", "Pending")
    }


def domains(
    objects: list[Json], gang_of: Mapping[str, str], binds: Mapping[str, str], evicted: Collection[str]
) -> dict[str, dict[str, str | None]]:
    """Find, per gang and tier, the hypernode that holds all members with a node; None where no single one does."""
    used: dict[str, set[str]] = {}
    for pod, node in {**standing(objects), **binds}.items():
        if pod in gang_of and pod not in evicted:
            used.setdefault(gang_of[pod], set()).add(node)
    made = sorted(tiers(objects).items())
    return {
        gang: {
            str(tier): next((name for name, inside in hypernodes.items() if nodes <= inside), None)
            for tier, hypernodes in made
        }
        for gang, nodes in used.items()
    }
