"""Edits: a manifest in, the same manifest with one thing changed out. What was given is never touched.

A pod's spec is wherever a map with containers is: in a pod, in the template of any owner, in every role of a job. So
an edit to pods works on every kind that makes pods, those included that nobody here has heard of.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from posse.whatif import amounts
from posse.whatif.explanation import Manifest

PodEdit = Callable[[dict[str, Any]], None]
"""Changes a pod's spec in place."""


def name_of(manifest: Manifest) -> str:
    """What people call an object: kind, and namespace and name."""
    meta = manifest.get("metadata", {})
    name = "/".join(part for part in (meta.get("namespace"), meta.get("name")) if part)
    return f"{manifest.get('kind', '')} {name}"


def pod_specs(manifest: Any) -> Iterator[dict[str, Any]]:
    """The pod specs inside a manifest."""
    if isinstance(manifest, dict):
        if isinstance(manifest.get("containers"), list):
            yield manifest
        else:
            for value in manifest.values():
                yield from pod_specs(value)
    elif isinstance(manifest, list):
        for value in manifest:
            yield from pod_specs(value)


def with_pods(manifest: Manifest, edit: PodEdit) -> Manifest:
    """The manifest with all its pod specs edited."""
    edited = copy.deepcopy(manifest)
    for spec in pod_specs(edited):
        edit(spec)
    return edited


def with_spec(manifest: Manifest, **fields: Any) -> Manifest:
    """The manifest with fields of its spec set."""
    edited = copy.deepcopy(manifest)
    edited.setdefault("spec", {}).update(fields)
    return edited


def minimum_of(manifest: Manifest) -> tuple[str, int] | None:
    """The field of the spec that says how many members a gang needs, and what it says."""
    spec = manifest.get("spec", {})
    for field in ("minMember", "minAvailable"):
        if isinstance(spec.get(field), int):
            return field, spec[field]
    return None


def with_minimum(manifest: Manifest, minimum: int) -> Manifest:
    """The manifest of what declares a gang, with another minimum; what it is to be admitted for goes with it."""
    found = minimum_of(manifest)
    if found is not None:
        return with_spec(manifest, **{found[0]: minimum}, **_in_proportion(manifest, minimum, found[1]))
    field = "minMember" if manifest.get("kind") == "PodGroup" else "minAvailable"
    return with_spec(manifest, **{field: minimum})


def with_groups(manifest: Manifest, groups: int, minimum: int) -> Manifest:
    """The manifest of a group with one policy for sub-groups, with other minimums of sub-groups and members."""
    (policy,) = manifest["spec"]["subGroupPolicy"]
    found = minimum_of(manifest)
    less = _in_proportion(manifest, minimum, found[1]) if found is not None else {}
    return with_spec(manifest, subGroupPolicy=[{**policy, "minSubGroups": groups}], minMember=minimum, **less)


def _in_proportion(manifest: Manifest, minimum: int, of: int) -> dict[str, Any]:
    """The field of the resources that a minimum needs, where the spec has it, for another one; rounded up."""
    given = manifest["spec"].get("minResources")
    if not given or of < 1:
        return {}
    return {"minResources": {name: amounts.part(name, amount, minimum, of) for name, amount in given.items()}}


def fresh(manifest: Manifest, name: str) -> Manifest:
    """Another object like this one: under a new name, with nothing that a cluster gave it."""
    edited = copy.deepcopy(manifest)
    meta = edited.get("metadata", {})
    kept = {key: meta[key] for key in ("namespace", "labels", "annotations") if key in meta}
    edited["metadata"] = {"name": name, **kept}
    return edited
