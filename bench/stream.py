"""A cluster as an API server tells it: one object per line of JSON, with all that nobody here reads.

`python -m bench.stream NODES PODS` writes nodes, queues, PodGroups and pods as a list gives them, then what a watch
would go on to say: a tenth of the pods came without a node and now run. Of those pods of a gang that are alike, each
has a name, a uid, addresses and times of its own; some have a label of their own too.

In short: fifty namespaces; jobs, replicas and stateful sets in gangs of 1 to 200, in some two hundred shapes; a lone
pod here and there; and three daemons on each node, which are not ours.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

Object = dict[str, Any]

NAMESPACES, QUEUES, DAEMONS = 50, 10, 3
SIZES = (1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 10, 16, 20, 32, 64, 100, 200)
KINDS = ("Job", "Job", "ReplicaSet", "StatefulSet")
ASKS = ("100m", "128Mi"), ("250m", "512Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("2", "4Gi")
POOLS = "general", "compute", "spot", "batch"
IMAGES = tuple(f"registry.example.com/team-{number % 5}/service-{number}:v1.{number}.0" for number in range(10))
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
LATER = 10
"""One pod in so many is told again."""

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class Workload(Struct, frozen=True):
    """What makes pods that are alike."""

    kind: str
    namespace: str
    name: str
    uid: str
    size: int
    asks: tuple[str, str]
    image: str
    pool: str
    created: datetime
    group: str = ""
    scheduler: str = "volcano"


class Teller:
    """Makes a cluster up, the same for the same seed."""

    def __init__(self, nodes: int, pods: int, seed: int = 0) -> None:
        self._random = Random(seed)
        self._nodes = [
            f"ip-10-{number >> 8}-{number & 255}-17.eu-central-1.compute.internal" for number in range(nodes)
        ]
        self._workloads = list(self._make_workloads(pods - DAEMONS * nodes))

    def tell(self) -> Iterator[Object]:
        """Every object, the pods as they are listed; then what changes."""
        yield from (_thing("v1", "Namespace", self._meta(f"team-{number}")) for number in range(NAMESPACES))
        for number in range(QUEUES):
            yield _thing("scheduling.volcano.sh/v1beta1", "Queue", self._meta(f"queue-{number}"), {"weight": 1})
        yield from (self._node(number, name) for number, name in enumerate(self._nodes))
        yield from (self._group(workload) for workload in self._workloads if workload.group)
        later = []
        for pod in self._pods():
            if self._random.randrange(LATER):
                yield pod
            else:
                later.append(pod)
                yield _without_node(pod)
        self._random.shuffle(later)
        yield from later

    # ------------------------------------------------------------------ who there is

    def _make_workloads(self, pods: int) -> Iterator[Workload]:
        random, made = self._random, 0
        while made < pods:
            size, kind = min(random.choice(SIZES), pods - made), random.choice(KINDS)
            name, uid = f"{random.choice(('train', 'eval', 'etl', 'serve'))}-{self._letters(6)}", self._uid()
            if kind == "ReplicaSet":
                name = f"{name}-{self._letters(10)}"
            yield Workload(
                kind=kind,
                namespace=f"team-{random.randrange(NAMESPACES)}",
                name=name,
                uid=uid,
                size=size,
                asks=random.choice(ASKS),
                image=random.choice(IMAGES),
                pool=random.choice(POOLS),
                created=self._moment(),
                group="" if size == 1 and random.random() < 0.5 else f"podgroup-{uid}",
            )
            made += size

    def _daemons(self) -> Iterator[Workload]:
        for number in range(DAEMONS):
            yield Workload(
                kind="DaemonSet",
                namespace="kube-system",
                name=f"daemon-{number}",
                uid=self._uid(),
                size=len(self._nodes),
                asks=ASKS[number % 2],
                image=IMAGES[number],
                pool="",
                created=EPOCH,
                scheduler="default-scheduler",
            )

    def _pods(self) -> Iterator[Object]:
        for workload in self._daemons():
            for node in self._nodes:
                yield self._pod(workload, self._letters(5), node)
        for workload in self._workloads:
            for index in range(workload.size):
                yield self._pod(workload, self._suffix(workload, index), self._random.choice(self._nodes))

    def _suffix(self, workload: Workload, index: int) -> str:
        match workload.kind:
            case "StatefulSet":
                return str(index)
            case "Job":
                return f"{index}-{self._letters(5)}"
        return self._letters(5)

    # ------------------------------------------------------------------ objects

    def _node(self, number: int, name: str) -> Object:
        labels = {
            "beta.kubernetes.io/arch": "amd64",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": f"m{5 + number % 3}.8xlarge",
            "topology.kubernetes.io/region": "eu-central-1",
            "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
            "pool": POOLS[number % len(POOLS)],
        }
        notes = {
            "alpha.kubernetes.io/provided-node-ip": f"10.{number >> 8}.{number & 255}.17",
            "node.alpha.kubernetes.io/ttl": "0",
            "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        }
        room = {"cpu": "31850m", "memory": "257000Mi", "ephemeral-storage": "95491281146", "pods": "110"}
        status = {
            "capacity": room,
            "allocatable": room,
            "addresses": [{"type": "InternalIP", "address": notes["alpha.kubernetes.io/provided-node-ip"]}],
            "conditions": [self._condition(kind, EPOCH) for kind in ("MemoryPressure", "DiskPressure", "Ready")],
            "images": [{"names": [image], "sizeBytes": 10**9} for image in IMAGES],
            "nodeInfo": {"kubeletVersion": "v1.34.2", "operatingSystem": "linux"},
        }
        return _thing(
            "v1", "Node", self._meta(name, labels=labels, annotations=notes), {"podCIDR": "10.0.0.0/24"}, status
        )

    def _group(self, workload: Workload) -> Object:
        minimum = {"cpu": str(workload.size), "memory": f"{workload.size}Gi"}
        spec = {"minMember": workload.size, "queue": self._queue(workload), "minResources": minimum}
        owner = [{"apiVersion": "batch/v1", "kind": workload.kind, "name": workload.name, "uid": workload.uid}]
        meta = self._meta(workload.group, workload.namespace, workload.created, ownerReferences=owner)
        return _thing("scheduling.volcano.sh/v1beta1", "PodGroup", meta, spec, {"phase": "Running"})

    def _queue(self, workload: Workload) -> str:
        return f"queue-{int(workload.namespace.rpartition('-')[2]) % QUEUES}"

    def _pod(self, workload: Workload, suffix: str, node: str) -> Object:
        name, began = f"{workload.name}-{suffix}", workload.created + timedelta(seconds=self._random.randrange(60))
        owner = {
            "apiVersion": "batch/v1" if workload.kind == "Job" else "apps/v1",
            "kind": workload.kind,
            "name": workload.name,
            "uid": workload.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        address = f"10.{self._random.randrange(256)}.{self._random.randrange(256)}.{self._random.randrange(256)}"
        meta = self._meta(
            name,
            workload.namespace,
            began,
            generateName=f"{workload.name}-",
            labels=_labels(workload, name, suffix),
            annotations=self._notes(workload, suffix, address),
            ownerReferences=[owner],
        )
        return _thing("v1", "Pod", meta, _pod_spec(workload, node, suffix), self._pod_status(workload, began, address))

    def _notes(self, workload: Workload, suffix: str, address: str) -> dict[str, str]:
        notes = {
            "cni.projectcalico.org/containerID": f"{self._random.getrandbits(256):064x}",
            "cni.projectcalico.org/podIP": f"{address}/32",
            "cni.projectcalico.org/podIPs": f"{address}/32",
        }
        if workload.group:
            notes["scheduling.k8s.io/group-name"] = workload.group
        match workload.kind:
            case "Job":
                notes["batch.kubernetes.io/job-completion-index"] = suffix.partition("-")[0]
            case "ReplicaSet":
                notes |= {"prometheus.io/scrape": "true", "prometheus.io/port": "8080"}
        return notes

    def _pod_status(self, workload: Workload, began: datetime, address: str) -> Object:
        kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        cpu, memory = workload.asks
        container = {
            "name": "main",
            "allocatedResources": {"cpu": cpu, "memory": memory},
            "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
            "containerID": f"containerd://{self._random.getrandbits(256):064x}",
            "image": workload.image,
            "imageID": f"{workload.image.partition(':')[0]}@sha256:{self._random.getrandbits(256):064x}",
            "ready": True,
            "restartCount": 0,
            "started": True,
            "state": {"running": {"startedAt": _text(began + timedelta(seconds=9))}},
            "lastState": {},
        }
        return {
            "phase": "Running",
            "conditions": [self._condition(kind, began + timedelta(seconds=7)) for kind in kinds],
            "hostIP": "10.0.0.17",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "qosClass": "Burstable",
            "startTime": _text(began + timedelta(seconds=8)),
            "containerStatuses": [container],
        }

    def _condition(self, kind: str, when: datetime) -> Object:
        return {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": _text(when)}

    def _meta(self, name: str, namespace: str = "", created: datetime = EPOCH, **more: object) -> Object:
        fields = {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:containers": {"k:": {".": {}}}}}
        managed = {"operation": "Update", "apiVersion": "v1", "time": _text(created), "fieldsType": "FieldsV1"}
        return {
            "name": name,
            **({"namespace": namespace} if namespace else {}),
            "uid": self._uid(),
            "resourceVersion": str(self._random.randrange(10**9)),
            "creationTimestamp": _text(created),
            **more,
            "managedFields": [
                {"manager": "kube-controller-manager", **managed, "fieldsV1": fields},
                {"manager": "kubelet", "subresource": "status", **managed, "fieldsV1": fields},
            ],
        }

    # ------------------------------------------------------------------ what is made up

    def _uid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _letters(self, count: int) -> str:
        return "".join(self._random.choices(ALPHABET, k=count))

    def _moment(self) -> datetime:
        return EPOCH + timedelta(seconds=self._random.randrange(90 * 86400))


def _thing(version: str, kind: str, meta: Object, spec: Object | None = None, status: Object | None = None) -> Object:
    parts = {"spec": spec, "status": status}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **{key: part for key, part in parts.items() if part}}


def _text(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _labels(workload: Workload, name: str, suffix: str) -> dict[str, str]:
    team = {"app.kubernetes.io/name": workload.name.partition("-")[0], "team": workload.namespace}
    match workload.kind:
        case "Job":
            return team | {
                "batch.kubernetes.io/controller-uid": workload.uid,
                "batch.kubernetes.io/job-completion-index": suffix.partition("-")[0],
                "batch.kubernetes.io/job-name": workload.name,
                "controller-uid": workload.uid,
                "job-name": workload.name,
            }
        case "StatefulSet":
            return team | {
                "app": workload.name,
                "apps.kubernetes.io/pod-index": suffix,
                "controller-revision-hash": f"{workload.name}-{workload.uid[:10]}",
                "statefulset.kubernetes.io/pod-name": name,
            }
        case "DaemonSet":
            return {
                "k8s-app": workload.name,
                "controller-revision-hash": workload.uid[:8],
                "pod-template-generation": "1",
            }
    app, _, template = workload.name.rpartition("-")
    return team | {"app": app, "pod-template-hash": template}


def _pod_spec(workload: Workload, node: str, suffix: str) -> Object:
    cpu, memory = workload.asks
    volume = f"kube-api-access-{suffix}"
    container = {
        "name": "main",
        "image": workload.image,
        "command": ["/bin/run", "--config=/etc/run/config.yaml"],
        "env": [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(4)],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
        "volumeMounts": [
            {"name": volume, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
        ],
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
    }
    for_ever = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    spec = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "nodeName": node,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": workload.scheduler,
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": for_ever,
        "volumes": [{"name": volume, "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
    }
    if workload.kind == "DaemonSet":
        own = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [own]}}
        return spec | {"affinity": {"nodeAffinity": required}}
    return spec | {"nodeSelector": {"pool": workload.pool}}


def _without_node(pod: Object) -> Object:
    """A pod as it was before it was bound."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return pod | {"spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}}


def main() -> None:
    """Write a cluster of the size asked for."""
    nodes, pods = map(int, sys.argv[1:])
    encode = msgspec.json.Encoder().encode
    for thing in Teller(nodes, pods).tell():
        sys.stdout.buffer.write(encode(thing) + b"\n")


if __name__ == "__main__":
    main()
