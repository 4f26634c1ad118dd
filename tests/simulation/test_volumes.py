"""Volumes in files: what is told of them is heeded, and nobody waits for what is not told of."""

from typing import Any

from posse.kube.objects import PersistentVolume, PersistentVolumeClaim, Pod
from posse.simulation.run import Run
from tests.simulation.scenes import Manifest, after, group, node, pod, run

STORAGE = "storage.k8s.io/v1"


def of_kind(version: str, kind: str, name: str, **body: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **body}


def storage_class(name: str, provisioner: str) -> Manifest:
    return of_kind(STORAGE, "StorageClass", name, provisioner=provisioner, volumeBindingMode="WaitForFirstConsumer")


LOCAL, MADE = storage_class("local", "kubernetes.io/no-provisioner"), storage_class("made", "ebs")


def claim(name: str, of: str, **spec: Any) -> Manifest:
    wants = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return of_kind("v1", "PersistentVolumeClaim", name, spec={**wants, "storageClassName": of, **spec})


def volume(name: str, on: str, **spec: Any) -> Manifest:
    term = {"matchExpressions": [{"key": "name", "operator": "In", "values": [on]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    what = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"}
    return of_kind("v1", "PersistentVolume", name, spec={**what, "nodeAffinity": affinity, **spec})


def place(name: str) -> Manifest:
    made = node(name)
    made["metadata"]["labels"] = {"name": name}
    return made


def user(name: str, uses: str, of: str = "a") -> Manifest:
    made = pod(name, group=of)
    made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": uses}}]
    return made


def places(of: Run) -> dict[str, str]:
    pods = [thing for thing in of.cluster.objects.values() if isinstance(thing, Pod)]
    return {each.metadata.name: each.spec.node_name for each in sorted(pods, key=str)}


PAIR = [group("a", 2), user("p", "one"), user("q", "two")]


def test_a_gang_goes_where_its_volumes_are_and_its_claims_get_them() -> None:
    claims = [claim("one", "local"), claim("two", "local")]
    ran = run(place("n1"), place("n2"), LOCAL, *claims, volume("v1", "n1"), volume("v2", "n2"), *PAIR)
    things = ran.cluster.objects.values()

    assert sorted(places(ran).values()) == ["n1", "n2"]
    assert {each.status.phase for each in things if isinstance(each, PersistentVolume)} == {"Bound"}
    has = {each.metadata.name: each.spec.volume_name for each in things if isinstance(each, PersistentVolumeClaim)}
    assert {name: has[claim][1:] for name, claim in (("p", "one"), ("q", "two"))} == {
        name: on[1:] for name, on in places(ran).items()
    }


def test_one_volume_too_few_keeps_it_in_line_and_is_told() -> None:
    claims = [claim("one", "local"), claim("two", "local")]
    told = after(place("n1"), place("n2"), LOCAL, *claims, volume("v1", "n1"), *PAIR)

    assert told["binds"] == {}
    assert told["pods"]["default/q"]["message"] == "0/2 nodes are unavailable: 2 no volume to bind."


def test_a_volume_that_can_be_made_is_there_in_the_next_cycle() -> None:
    ran = run(place("n1"), MADE, claim("one", "made"), group("a", 1), user("p", "one"))
    (volume,) = (thing for thing in ran.cluster.objects.values() if isinstance(thing, PersistentVolume))

    assert places(ran) == {"p": "n1"}
    assert volume.spec.claim_ref is not None
    assert volume.spec.claim_ref.name == "one"


def test_nobody_waits_for_what_is_not_in_the_input() -> None:
    assert set(places(run(place("n1"), *PAIR)).values()) == {"n1"}
    only_claims = [claim("one", "local"), claim("two", "made")]
    assert set(places(run(place("n1"), *only_claims, *PAIR)).values()) == {"n1"}
    no_volumes = [LOCAL, claim("one", "local"), claim("two", "local", volumeName="elsewhere")]
    assert set(places(run(place("n1"), *no_volumes, *PAIR)).values()) == {"n1"}


def test_kinds_of_storage_are_read() -> None:
    kinds = [of_kind(STORAGE, "CSINode", "n1", spec={"drivers": []}), of_kind(STORAGE, "CSIDriver", "ebs", spec={})]

    assert after(place("n1"), LOCAL, volume("v", "n1"), claim("one", "local"), *kinds)["ignored"] == {}
