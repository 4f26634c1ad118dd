"""Volumes in the simulated cluster: what its controller of volumes, and those who make them, would have done by now.

Nothing takes time here: what was decided for a claim is so when the next cycle begins.
"""

from collections.abc import Mapping

from msgspec import structs

from posse.cluster.records import Payload
from posse.cluster.volume_plans import plan_in
from posse.kube.meta import KubeObject, Metadata
from posse.kube.objects import PersistentVolume, PersistentVolumeClaim, StorageClass
from posse.kube.volumes import (
    CsiSource,
    ObjectReference,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from posse.simulation.identities import Identity

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


def with_phase(volume: PersistentVolume) -> PersistentVolume:
    """A volume that says whether it is to be had."""
    phase = volume.status.phase or ("Available" if volume.spec.claim_ref is None else "Bound")
    return structs.replace(volume, status=PersistentVolumeStatus(phase))


def made_ready(payload: Payload, objects: Mapping[Identity, KubeObject]) -> list[KubeObject]:
    """The claim and the volume that a plan brings together, as they are then."""
    namespace, _, name = payload.name.partition("/")
    claim = objects.get(("", PersistentVolumeClaim.KIND, namespace, name))
    if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name:
        return []
    plan = plan_in(payload)
    volume = objects.get(("", PersistentVolume.KIND, "", plan.volume)) if plan.volume else _made(claim, objects)
    if not isinstance(volume, PersistentVolume):
        return []
    kept = structs.replace(volume.spec, claim_ref=ObjectReference(namespace, name, claim.metadata.uid))
    return [structs.replace(volume, spec=kept, status=PersistentVolumeStatus("Bound")), _bound(claim, volume)]


def _bound(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolumeClaim:
    annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
    return structs.replace(
        claim,
        metadata=structs.replace(claim.metadata, annotations=annotations),
        spec=structs.replace(claim.spec, volume_name=volume.metadata.name),
        status=PersistentVolumeClaimStatus("Bound"),
    )


def _made(claim: PersistentVolumeClaim, objects: Mapping[Identity, KubeObject]) -> PersistentVolume:
    """A new volume for a claim. Nobody knows from where it could be reached, so it is from everywhere."""
    spec, name = claim.spec, f"pvc-{claim.metadata.uid}"
    storage_class = objects.get(("storage.k8s.io", StorageClass.KIND, "", spec.storage_class_name))
    driver = storage_class.provisioner if isinstance(storage_class, StorageClass) else ""
    return PersistentVolume(
        metadata=Metadata(name=name),
        spec=PersistentVolumeSpec(
            capacity=dict(spec.resources.requests),
            access_modes=spec.access_modes,
            volume_mode=spec.volume_mode,
            storage_class_name=spec.storage_class_name,
            csi=CsiSource(driver, name) if driver else None,
        ),
    )
