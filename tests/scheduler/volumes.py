"""Volumes in few words, for tests that tell a story. Sizes are in GiB."""

from typing import Any

from posse.cluster.facts import ClaimReference, NodeFact, Observation, TaskFact
from posse.cluster.records import Bind, CycleResult
from posse.cluster.selectors import NodeTerm, Requirement
from posse.cluster.storage_facts import VOLUME_CLAIM, StorageClassFact, VolumeClaimFact, VolumeFact
from posse.cluster.volume_plans import VolumePlan
from posse.scheduler.engine import Engine
from posse.scheduler.volumes.book import VolumeBook
from tests.builders import bare, conf, engine, node, task

GI = 1 << 30
ONCE = ("ReadWriteOnce",)
ZONE = "topology.kubernetes.io/zone"

LOCAL = StorageClassFact(name="local", provisioner="kubernetes.io/no-provisioner", waits=True)
"""Volumes are there or not."""
MADE = StorageClassFact(name="made", provisioner="ebs", waits=True)
"""Volumes are made when a pod wants them."""


def where(key: str, *values: str) -> tuple[NodeTerm, ...]:
    """The nodes whose label has one of these values."""
    return (NodeTerm((Requirement(key, "In", tuple(sorted(values))),)),)


def volume(name: str, size: int = 1, *, on: str = "", zone: str = "", **fields: Any) -> VolumeFact:
    """A free volume: of one node (which has its name as a label), of a zone, or of everywhere."""
    terms = where("name", on) if on else where(ZONE, zone) if zone else None
    return VolumeFact(
        **{
            "name": name,
            "uid": name,
            "storage_class": "local",
            "size": size * GI,
            "modes": ONCE,
            "terms": terms,
            "is_available": True,
            **fields,
        }
    )


def claim(name: str, size: int = 1, *, of: str = "local", has: str = "", **fields: Any) -> VolumeClaimFact:
    """A claim; it `has` a volume, or waits for one."""
    return VolumeClaimFact(
        **{
            "namespace": "default",
            "name": name,
            "uid": name,
            "storage_class": of,
            "size": size * GI,
            "modes": ONCE,
            "volume": has,
            "is_bound": bool(has),
            **fields,
        }
    )


def claims(*names: str, own: bool = False) -> dict[str, Any]:
    """What the shape of a pod has that uses these claims."""
    return {"claims": tuple(ClaimReference(VOLUME_CLAIM, f"default/{name}", own) for name in sorted(names))}


def bound_to(name: str, of: str) -> tuple[str, VolumePlan]:
    """A claim, and the plan to give it a volume."""
    return f"default/{of}", VolumePlan(of, volume=name, volume_uid=name)


def made_at(node: str, of: str) -> tuple[str, VolumePlan]:
    """A claim, and the plan to have a volume made for it."""
    return f"default/{of}", VolumePlan(of, node=node)


CONF = conf("gang", "predicates", actions="allocate")


def place(name: str, zone: str = "", **fields: Any) -> NodeFact:
    """A node with its name as a label, and perhaps in a zone."""
    return node(name, labels={"name": name, **({ZONE: zone} if zone else {})}, **fields)


N1, N2, N3 = place("n1", "east"), place("n2", "west"), place("n3", "west")


def pod(name: str, of: str, *names: str, **fields: Any) -> TaskFact:
    """A member of a gang that uses these claims."""
    return task(name, of, shape=claims(*names), **fields)


def scheduler(*facts: Observation, strict: bool = True) -> Engine:
    return engine(CONF, *facts, books={"volume": VolumeBook(strict=strict)}, checks=True)


def nodes_of(result: CycleResult) -> dict[str, str]:
    return {bare(effect.pod): effect.node for effect in result.effects if isinstance(effect, Bind)}
