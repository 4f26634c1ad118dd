"""Objects of storage as facts."""

from typing import Any

from posse.cluster.facts import Gone, Observation
from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.cluster.storage_facts import (
    AttachLimitsFact,
    StorageCapacityFact,
    StorageClassFact,
    StorageDriverFact,
    VolumeClaimFact,
    VolumeFact,
)
from posse.dialects.translator import Translator
from tests.kube.builders import pod, thing

GI = 1 << 30
ZONE = "topology.kubernetes.io/zone"


def told(api_version: str, kind: str, name: str, namespace: str = "", **body: Any) -> Observation:
    (fact,) = Translator().put(thing(api_version, kind, name, namespace, **body))
    return fact


def test_a_volume_says_what_it_is_and_from_where_it_can_be_reached() -> None:
    affinity = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["a"]}]}
    assert told(
        "v1",
        "PersistentVolume",
        "v",
        metadata={"uid": "1", "labels": {ZONE: "east__west"}},
        spec={
            "capacity": {"storage": "2Gi"},
            "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
            "volumeMode": "Block",
            "storageClassName": "local",
            "claimRef": {"namespace": "ns", "name": "data", "uid": "7"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [affinity]}},
            "csi": {"driver": "ebs", "volumeHandle": "vol-1"},
        },
        status={"phase": "Available"},
    ) == VolumeFact(
        name="v",
        uid="1",
        storage_class="local",
        size=2 * GI,
        modes=("ReadOnlyMany", "ReadWriteOnce"),
        is_block=True,
        labels={ZONE: "east__west"},
        terms=(NodeTerm((Requirement("disk", "In", ("a",)),)),),
        zones=(Requirement(ZONE, "In", ("east", "west")),),
        claim="ns/data",
        claim_uid="7",
        is_available=True,
        driver="ebs",
        handle="vol-1",
    )


def test_a_volume_that_says_nothing_can_be_reached_from_everywhere() -> None:
    assert told("v1", "PersistentVolume", "v", spec={}) == VolumeFact(name="v")


def test_a_label_that_names_no_place_says_nothing() -> None:
    fact = told("v1", "PersistentVolume", "v", metadata={"labels": {ZONE: "east__"}})
    assert isinstance(fact, VolumeFact)
    assert fact.zones == ()


def test_a_claim_says_what_it_wants_and_how_far_it_got() -> None:
    done = {"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": "n1"}
    assert told(
        "v1",
        "PersistentVolumeClaim",
        "data",
        "ns",
        metadata={
            "uid": "7",
            "annotations": done,
            "ownerReferences": [{"kind": "Pod", "name": "p", "uid": "8", "controller": True}],
        },
        spec={
            "resources": {"requests": {"storage": "1.5Gi"}},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "selector": {"matchLabels": {"disk": "fast"}},
            "volumeName": "v",
        },
        status={"phase": "Bound"},
    ) == VolumeClaimFact(
        namespace="ns",
        name="data",
        uid="7",
        storage_class="local",
        size=3 * GI // 2,
        modes=("ReadWriteOnce",),
        selector=Selector((Requirement("disk", "In", ("fast",)),)),
        volume="v",
        is_bound=True,
        selected_node="n1",
        owner="8",
    )


def test_the_old_annotation_names_the_class_where_it_is() -> None:
    old = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}
    fact = told("v1", "PersistentVolumeClaim", "data", "ns", metadata=old, spec={"storageClassName": "new"})
    assert isinstance(fact, VolumeClaimFact)
    assert fact.storage_class == "old"


def test_classes_drivers_limits_and_capacities_are_facts_too() -> None:
    api = "storage.k8s.io/v1"
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b", "a"]}]}]

    assert told(
        api,
        "StorageClass",
        "fast",
        provisioner="ebs",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=topologies,
    ) == StorageClassFact(
        name="fast", provisioner="ebs", waits=True, topologies=((Requirement(ZONE, "In", ("a", "b")),),)
    )
    assert told(api, "CSIDriver", "ebs", spec={"storageCapacity": True}) == StorageDriverFact(
        name="ebs", tells_capacity=True
    )
    drivers = [{"name": "ebs", "allocatable": {"count": 3}}, {"name": "nfs"}]
    assert told(api, "CSINode", "n1", spec={"drivers": drivers}) == AttachLimitsFact(node="n1", limits=(("ebs", 3),))
    assert told(
        api,
        "CSIStorageCapacity",
        "east",
        "ns",
        storageClassName="fast",
        nodeTopology={"matchLabels": {ZONE: "a"}},
        capacity="5Gi",
        maximumVolumeSize="2Gi",
    ) == StorageCapacityFact(
        namespace="ns",
        name="east",
        storage_class="fast",
        nodes=Selector((Requirement(ZONE, "In", ("a",)),)),
        capacity=5 * GI,
        largest=2 * GI,
    )


def test_what_is_gone_is_known_by_the_same_key() -> None:
    translator = Translator()

    assert translator.remove("PersistentVolumeClaim", "ns", "data", "7") == [
        Gone(kind="volume-claim", key="ns/data", uid="7")
    ]
    assert translator.remove("CSINode", "", "n1") == [Gone(kind="attach-limits", key="n1")]


def test_a_volume_made_for_the_pod_is_its_own_and_one_it_names_is_not() -> None:
    volumes = [
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    (_, task) = Translator().put(pod("p", "ns", volumes=volumes))

    assert [(claim.name, claim.is_own) for claim in task.shape.claims] == [("ns/data", False), ("ns/p-scratch", True)]
