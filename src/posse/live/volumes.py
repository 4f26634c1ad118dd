"""Volumes on a cluster: what is watched for their sake, who keeps their book, and who makes them ready.

watches ──▶ world ──▶ book ──▶ payloads on binds ──▶ preparer ──▶ API server
                                                        ▲ news of claims
"""

from posse.binding.preparing import Preparer
from posse.binding.terms import Fence
from posse.binding.volumes import StorageApi, VolumePreparer
from posse.cluster.storage_facts import VOLUME_CLAIM
from posse.kube.meta import KubeObject
from posse.kube.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from posse.scheduler.claims import Book
from posse.scheduler.volumes.book import VolumeBook

STORAGE: tuple[type[KubeObject], ...] = (
    StorageClass,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
)
"""The kinds that say where pods with volumes can go."""


def books() -> dict[str, Book]:
    """The books that a scheduler on a cluster keeps: there, all objects are told of."""
    return {VOLUME_CLAIM: VolumeBook()}


def preparers(volumes: VolumePreparer) -> dict[str, Preparer]:
    """Who makes ready what binds need, by kind of payload."""
    return {VOLUME_CLAIM: volumes}


def volume_preparer(client: StorageApi, may_bind: Fence) -> VolumePreparer:
    """Who makes volumes ready. It wants to be told what is heard of claims (`put`)."""
    return VolumePreparer(client, may_bind=may_bind)
