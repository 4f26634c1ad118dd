"""What users write in Volcano's kinds, and what they should not have written."""

from typing import Any

GROUPS = {
    "PodGroup": "scheduling.volcano.sh/v1beta1",
    "Queue": "scheduling.volcano.sh/v1beta1",
    "Job": "batch.volcano.sh/v1alpha1",
    "HyperNode": "topology.volcano.sh/v1alpha1",
    "Command": "bus.volcano.sh/v1alpha1",
}
TASK = {"name": "worker", "replicas": 2, "template": {"spec": {"containers": [{"name": "main", "image": "none"}]}}}
TOPOLOGY = {"mode": "soft", "highestTierAllowed": 2, "highestTierName": "rack"}
SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "In", "values": ["d"]}]}
AMOUNTS = {"cpu": 4, "memory": "1.5Gi", "nvidia.com/gpu": "8", "pods": "1e3", "hugepages-2Mi": "512M", "x/y": "+500m"}

Spec = dict[str, Any]

TAKEN: dict[str, tuple[str, Spec]] = {
    "an empty group": ("PodGroup", {}),
    "a group of nobody": ("PodGroup", {"minMember": 0}),
    "a group with all there is": (
        "PodGroup",
        {
            "minMember": 4,
            "minTaskMember": {"launcher": 1, "worker": 3},
            "queue": "team-a.research",
            "priorityClassName": "high",
            "minResources": AMOUNTS,
            "networkTopology": TOPOLOGY,
            "subGroupPolicy": [
                {
                    "name": "worker",
                    "labelSelector": SELECTOR,
                    "matchLabelKeys": ["volcano.sh/partition-id"],
                    "subGroupSize": 2,
                    "minSubGroups": 1,
                    "networkTopology": TOPOLOGY,
                }
            ],
        },
    ),
    "a queue with all there is": (
        "Queue",
        {
            "weight": 65535,
            "priority": 7,
            "parent": "root",
            "reclaimable": False,
            "capability": AMOUNTS,
            "deserved": AMOUNTS,
            "guarantee": {"resource": AMOUNTS},
            "affinity": {
                "nodeGroupAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": ["a"],
                    "preferredDuringSchedulingIgnoredDuringExecution": ["b"],
                },
                "nodeGroupAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["c"]},
            },
            "dequeueStrategy": "fifo",
            "type": "any",
            "extendClusters": [{"name": "other", "weight": 1, "capacity": AMOUNTS}],
        },
    ),
    "a job with all there is": (
        "Job",
        {
            "schedulerName": "posse",
            "queue": "research",
            "priorityClassName": "high",
            "minAvailable": 3,
            "minSuccess": 1,
            "maxRetry": 0,
            "ttlSecondsAfterFinished": 0,
            "runningEstimate": "1h30m",
            "plugins": {"svc": ["--publish-not-ready-addresses"], "env": []},
            "policies": [
                {"event": "*", "action": "RestartJob"},
                {"events": ["PodFailed", "PodEvicted"], "action": "AbortJob", "timeout": "5m"},
                {"exitCode": 137, "action": "RestartTask"},
            ],
            "networkTopology": TOPOLOGY,
            "volumes": [
                {"mountPath": "/data", "volumeClaimName": "data"},
                {"mountPath": "/new", "volumeClaim": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {}}}},
            ],
            "tasks": [
                TASK,
                {
                    "name": "server",
                    "replicas": 4,
                    "minAvailable": 2,
                    "maxRetry": 1,
                    "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
                    "topologyPolicy": "best-effort",
                    "dependsOn": {"name": ["worker"], "iteration": "any"},
                    "partitionPolicy": {
                        "totalPartitions": 2,
                        "partitionSize": 2,
                        "minPartitions": 1,
                        "networkTopology": TOPOLOGY,
                    },
                    "template": {
                        "metadata": {
                            "name": "server",
                            "labels": {"a": "b"},
                            "annotations": {"posse.dev/run-time": "5m"},
                            "finalizers": ["example.com/kept"],
                        },
                        "spec": {
                            "restartPolicy": "OnFailure",
                            "tolerations": [{"operator": "Exists"}],
                            "nodeSelector": {"pool": "a"},
                            "initContainers": [{"name": "first", "image": "none"}],
                            "containers": [{"name": "main", "image": "none", "resources": {"limits": {"cpu": "1"}}}],
                        },
                    },
                },
            ],
        },
    ),
    "a node by its name": (
        "HyperNode",
        {"tier": 1, "tierName": "rack", "members": [{"type": "Node", "selector": {"exactMatch": {"name": "n-1"}}}]},
    ),
    "nodes by a pattern": (
        "HyperNode",
        {"tier": 0, "members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "^n-.*$"}}}]},
    ),
    "nodes by labels": ("HyperNode", {"tier": 2, "members": [{"type": "Node", "selector": {"labelMatch": SELECTOR}}]}),
}

TWO_WAYS = {"exactMatch": {"name": "a"}, "regexMatch": {"pattern": "b"}}

REFUSED: dict[str, tuple[str, Spec, str]] = {
    "a negative minimum": ("PodGroup", {"minMember": -1}, "spec.minMember: Invalid value: -1"),
    "a minimum in words": ("PodGroup", {"minMember": "five"}, 'must be of type integer: "string"'),
    "a minimum beyond all bounds": ("PodGroup", {"minMember": 2**31}, "spec.minMember"),
    "an amount that is none": ("PodGroup", {"minResources": {"cpu": "much"}}, "spec.minResources.cpu"),
    "a queue's name that is none": ("PodGroup", {"queue": "Team A"}, "spec.queue"),
    "an unknown way to be near": ("PodGroup", {"networkTopology": {"mode": "near"}}, '"hard", "soft"'),
    "a sub-group of nobody": ("PodGroup", {"subGroupPolicy": [{"subGroupSize": 0}]}, "subGroupSize"),
    "a weight of nothing": ("Queue", {"weight": 0}, "spec.weight"),
    "a weight beyond all bounds": ("Queue", {"weight": 65536}, "spec.weight"),
    "an unknown order": ("Queue", {"dequeueStrategy": "lifo"}, '"fifo", "traverse"'),
    "a job without a role": ("Job", {"tasks": []}, "spec.tasks"),
    "a negative number of pods": ("Job", {"tasks": [{**TASK, "replicas": -1}]}, "replicas"),
    "an unknown event": ("Job", {"policies": [{"event": "Boredom"}]}, "spec.policies[0].event"),
    "a pod without containers": ("Job", {"tasks": [{"template": {"spec": {}}}]}, "containers: Required value"),
    "no tier": ("HyperNode", {}, "spec.tier: Required value"),
    "a member of no kind": ("HyperNode", {"tier": 1, "members": [{"type": "Pod"}]}, '"Node", "HyperNode"'),
    "a member named in two ways": (
        "HyperNode",
        {"tier": 1, "members": [{"type": "Node", "selector": TWO_WAYS}]},
        "exactly one of exactMatch, regexMatch and labelMatch",
    ),
}


def thing(kind: str, name: str, spec: Spec) -> dict[str, Any]:
    """An object of one of Volcano's kinds."""
    return {"apiVersion": GROUPS[kind], "kind": kind, "metadata": {"name": name}, "spec": spec}
