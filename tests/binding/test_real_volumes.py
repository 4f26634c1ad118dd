"""Volumes on a real API server, with the controller that binds them, as an account that may do no more than it must."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from posse.binding.preparing import NotPreparedError
from posse.binding.volumes import VolumePreparer
from posse.cluster.records import Bind
from posse.cluster.volume_plans import VolumePlan
from posse.kube.api.access import find_access
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from tests.cluster.control_plane import ControlPlane, KubectlError
from tests.cluster.waiting import comes_true

RULES = [
    {"apiGroups": [""], "resources": ["persistentvolumes", "persistentvolumeclaims"], "verbs": ["get", "patch"]},
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
SELECTED = "volume.kubernetes.io/selected-node"


class Store:
    """A namespace with claims, volumes that are named after it, and an account that may bring them together."""

    def __init__(self, plane: ControlPlane, namespace: str, account: Path) -> None:
        self.plane, self.namespace, self.account = plane, namespace, account
        self.volumes: list[str] = []

    def make_class(self, provisioner: str) -> None:
        """A way to come by volumes that waits for pods."""
        body = {"metadata": {"name": self.namespace}, "provisioner": provisioner}
        self.plane.client.create(CLASSES, {**body, "volumeBindingMode": "WaitForFirstConsumer"})

    def claim(self, name: str) -> str:
        """Claim a volume. Gives the uid of the claim."""
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": self.namespace,
            "resources": {"requests": {"storage": "1Gi"}},
        }
        made = self.plane.client.create(self.claims, {"metadata": {"name": name}, "spec": spec})
        return str(made["metadata"]["uid"])

    def volume(self, name: str, **spec: Any) -> str:
        """Make a volume. Gives its uid."""
        whole = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": self.namespace,
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "example.com", "volumeHandle": name},
            "persistentVolumeReclaimPolicy": "Retain",
            **spec,
        }
        self.volumes.append(f"{self.namespace}-{name}")
        made = self.plane.client.create(VOLUMES, {"metadata": {"name": f"{self.namespace}-{name}"}, "spec": whole})
        return str(made["metadata"]["uid"])

    @property
    def claims(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims"

    def claim_now(self, name: str) -> dict[str, Any]:
        return self.plane.client.get(f"{self.claims}/{name}")

    def asked(self, name: str) -> str:
        """The node at which a volume is to be made for a claim."""
        return str(self.claim_now(name)["metadata"].get("annotations", {}).get(SELECTED, ""))

    def prepare(self, name: str, plan: VolumePlan, deadline: float = 30.0, *, undo: bool = False) -> None:
        """Make a volume ready as the account."""
        bind = Bind(f"{self.namespace}/pod", "pod", "horse", "g")

        async def story() -> None:
            async with ApiClient(find_access({}, str(self.account)), backoff=Backoff(attempts=1)) as client:
                volumes, payload = (
                    VolumePreparer(client, may_bind=lambda: True),
                    plan.for_claim(f"{self.namespace}/{name}"),
                )
                try:
                    async with asyncio.timeout(deadline):
                        await volumes.prepare(bind, payload)
                finally:
                    if undo:
                        await volumes.undo(bind, payload)

        asyncio.run(story())


@pytest.fixture
def store(control_plane: ControlPlane, namespace: str) -> Iterator[Store]:
    account = control_plane.service_account(namespace, "posse")
    control_plane.client.create(f"{RBAC}/clusterroles", {"metadata": {"name": namespace}, "rules": RULES})
    control_plane.client.create(
        f"{RBAC}/clusterrolebindings",
        {
            "metadata": {"name": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": namespace},
            "subjects": [{"kind": "ServiceAccount", "name": "posse", "namespace": namespace}],
        },
    )

    def has_rights() -> bool:
        with suppress(KubectlError):
            control_plane.kubectl("auth", "can-i", "patch", "persistentvolumes", kubeconfig=account)
            return True
        return False

    assert comes_true(has_rights)
    found = Store(control_plane, namespace, account)
    yield found
    for name in found.volumes:  # what protects volumes in use may not be there any more to let them go
        control_plane.kubectl("delete", "pv", name, "--wait=false")
        with suppress(KubectlError):
            control_plane.kubectl("patch", "pv", name, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    control_plane.kubectl("delete", "clusterrole,clusterrolebinding,storageclass", namespace, "--ignore-not-found")


@pytest.mark.usefixtures("controller_manager")
def test_a_volume_that_is_there_is_bound_to_its_claim(store: Store) -> None:
    store.make_class("kubernetes.io/no-provisioner")
    claim, name = store.claim("data"), f"{store.namespace}-disk"
    uid = store.volume("disk")
    assert comes_true(lambda: store.plane.client.get(f"{VOLUMES}/{name}")["status"]["phase"] == "Available")

    store.prepare("data", VolumePlan(claim, volume=name, volume_uid=uid))

    assert store.claim_now("data")["spec"]["volumeName"] == name
    assert comes_true(lambda: store.claim_now("data")["status"]["phase"] == "Bound")
    assert store.plane.client.get(f"{VOLUMES}/{name}")["spec"]["claimRef"]["uid"] == claim


@pytest.mark.usefixtures("controller_manager")
def test_a_volume_is_made_where_it_is_asked_for(store: Store) -> None:
    store.make_class("example.com")
    claim = store.claim("data")
    reference = {"namespace": store.namespace, "name": "data", "uid": claim, "kind": "PersistentVolumeClaim"}

    with pytest.raises(TimeoutError):
        store.prepare("data", VolumePlan(claim, node="horse"), deadline=1)
    assert store.asked("data") == "horse"
    store.volume("made", claimRef={**reference, "apiVersion": "v1"})  # as a provisioner does
    store.prepare("data", VolumePlan(claim, node="horse"))

    assert store.claim_now("data")["spec"]["volumeName"] == f"{store.namespace}-made"


def test_what_is_not_made_yet_is_no_longer_asked_for_when_undone(store: Store) -> None:
    claim = store.claim("data")

    with pytest.raises(TimeoutError):
        store.prepare("data", VolumePlan(claim, node="horse"), deadline=1, undo=True)

    assert not store.asked("data")
    assert "annotations" not in store.claim_now("data")["metadata"]


def test_a_volume_that_somebody_else_has_taken_is_not_taken_away(store: Store) -> None:
    claim = store.claim("data")
    store.volume("disk", claimRef={"namespace": store.namespace, "name": "other", "kind": "PersistentVolumeClaim"})

    with pytest.raises(NotPreparedError, match=f"is kept for claim {store.namespace}/other"):
        store.prepare("data", VolumePlan(claim, volume=f"{store.namespace}-disk"))
