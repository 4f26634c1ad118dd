"""What is suggested has been tried: each remedy applied to the input makes the gang start, and one less does not."""

from tests.whatif.pictures import (
    applied,
    daemon,
    daemon_set,
    explained,
    gang,
    group,
    node,
    pod,
    queue,
    remedy,
    starts,
    with_roles,
)

TEMPLATE = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}


def actions(name, objects, **line):
    return [each["action"] for each in explained(name, objects, **line)["remedies"]]


# ---------------------------------------------------------------------- nodes


def test_two_more_nodes_are_two_and_not_one():
    objects = [node("n1"), *gang("a", 3, 3, cpu=3)]

    found = remedy("a", "add-nodes", objects)

    assert found["message"] == "2 more nodes like n1 (4 cpu, 32Gi memory)"
    assert [each["metadata"]["name"] for each in found["patch"]] == ["n1-more-1", "n1-more-2"]
    assert not starts("a", [*objects, found["patch"][0]])


def test_nodes_that_others_would_take_are_no_remedy():
    """The gang ahead in line needs a node as well, so one for both of this gang's members is not enough."""
    objects = [node("n1"), *gang("ahead", 2, 2, cpu=3), *gang("behind", 2, 2, cpu=3)]

    found = remedy("behind", "add-nodes", objects)

    assert len(found["patch"]) == 3
    assert not starts("behind", [*objects, *found["patch"][:2]])


def test_the_daemons_of_a_new_node_are_charged():
    """A node of 4 cpu holds one member of 2 cpu besides a daemon of 1; without the daemon it would hold two."""
    for name in ("agent", "z-agent"):
        objects = [node("n1"), daemon_set(name), *gang("a", 3, 3, cpu=2)]

        assert len(remedy("a", "add-nodes", objects)["patch"]) == 2


def test_daemons_are_charged_where_the_input_has_their_pods_and_not_their_owner():
    dump = [node("n1"), daemon("agent-x", "n1"), *gang("a", 3, 3, cpu=2)]

    assert len(remedy("a", "add-nodes", dump)["patch"]) == 2
    assert len(remedy("a", "add-nodes", [*dump, daemon_set("agent")])["patch"]) == 2


def test_a_node_is_made_to_fit_beside_its_daemons():
    objects = [node("n1"), daemon("agent-x", "n1"), pod("full", cpu=3, on="n1", priority=1), *gang("a", 1, 1, cpu=4)]

    assert remedy("a", "add-nodes", objects)["message"] == "1 more node like n1, but with 5 cpu"


def test_a_new_node_is_like_one_that_suits_the_gang():
    objects = [
        node("plain-1", cpu=16),
        node(
            "gpu-1",
            cpu=8,
            gpu=2,
            labels={"pool": "gpu", "kubernetes.io/hostname": "gpu-1"},
            taints=["gpu=yes:NoSchedule"],
        ),
        *gang("a", 2, 2, gpu=2, tolerations=[{"key": "gpu", "operator": "Exists"}], nodeSelector={"pool": "gpu"}),
    ]

    found = remedy("a", "add-nodes", objects)
    made = found["patch"][0]

    assert found["message"] == "1 more node like gpu-1 (2 nvidia.com/gpu)"
    assert made["metadata"]["labels"] == {"pool": "gpu", "kubernetes.io/hostname": "gpu-1-more-1"}
    assert made["spec"]["taints"] == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]


def test_a_node_is_made_to_fit_where_none_is_of_use():
    objects = [node("n1"), *gang("a", 1, 1, cpu=16, nodeSelector={"pool": "big"})]

    found = remedy("a", "add-nodes", objects)

    assert found["message"] == "1 more node like n1, but with the label pool=big, with 16 cpu"


def test_an_empty_cluster_is_told_what_to_buy():
    assert remedy("a", "add-nodes", gang("a", 2, 2, cpu=3))["message"] == "2 nodes with 3 cpu"


# ---------------------------------------------------------------------- less, or others' room


def test_the_minimum_is_lowered_by_no_more_than_it_takes():
    objects = [node("n1"), node("n2"), *gang("a", 4, 4, cpu=3)]

    found = remedy("a", "lower-min", objects)

    assert found["patch"][0]["spec"]["minMember"] == 2
    assert not starts("a", applied(objects, {"patch": [group("a", 3)], "remove": []}))


def test_what_a_gang_is_admitted_for_is_lowered_with_its_minimum():
    resources = {"cpu": "4", "requests.nvidia.com/gpu": "2", "memory": "1Gi"}
    members = [pod(f"a-{number}", of="a") for number in range(4)]
    objects = [node("n1", cpu=2, gpu=2), group("a", 4, minResources=resources), *members]

    found = remedy("a", "lower-min", objects)

    assert found["patch"][0]["spec"]["minMember"] == 2
    assert found["patch"][0]["spec"]["minResources"] == {
        "cpu": "2",
        "requests.nvidia.com/gpu": "1",
        "memory": "512Mi",
    }


def test_the_minimum_of_a_job_is_lowered_in_the_job():
    tasks = [{"name": "worker", "replicas": 3, "template": {"spec": TEMPLATE}}]
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"minAvailable": 3, "tasks": tasks},
    }
    name = "train-00000000-0000-4000-8000-7ecafe6e8c58"

    found = remedy(name, "lower-min", [node("n1"), job])

    assert [(each["kind"], each["spec"]["minAvailable"]) for each in found["patch"]] == [("Job", 2)]


def test_sub_groups_are_cut_whole():
    policy = {"name": "rack", "subGroupSize": 2, "minSubGroups": 2, "matchLabelKeys": ["rack"]}
    members = [pod(f"a-{number}", of="a", cpu=2) for number in range(4)]
    for number, member in enumerate(members):
        member["metadata"]["labels"] = {"rack": str(number // 2)}
    objects = [node("n1"), group("a", 4, subGroupPolicy=[policy]), *members]

    found = remedy("a", "lower-min", objects)

    assert found["message"] == "a minimum of 1 sub-group instead of 2 in PodGroup default/a"
    assert found["patch"][0]["spec"]["minMember"] == 2


def test_only_those_must_leave_whose_room_is_needed():
    objects = [node("n1"), pod("large", cpu=3, on="n1"), pod("small", cpu=1, on="n1"), *gang("a", 1, 1, cpu=3)]

    found = remedy("a", "free-resources", objects)

    assert found["remove"] == [{"kind": "Pod", "namespace": "default", "name": "large"}]


def test_one_node_is_cleared_for_several_members():
    running = [pod(f"runs-{number}", cpu=2, on="n1") for number in range(2)]
    objects = [node("n1"), *running, *gang("a", 2, 2, cpu=2)]

    found = remedy("a", "free-resources", objects)

    assert [each["name"] for each in found["remove"]] == ["runs-0", "runs-1"]


def test_nobody_more_urgent_is_asked_to_leave():
    objects = [node("n1"), pod("urgent", cpu=4, on="n1", priority=1000), *gang("a", 1, 1, cpu=3)]

    assert "free-resources" not in actions("a", objects)


def test_those_ahead_in_line_take_room_first():
    """Each of two pods leaves room for one, and the first of both goes to the gang ahead."""
    running = [each for name in ("r", "s") for each in gang(name, 1, 1, in_queue="q", on="n1")]
    objects = [node("n1", cpu=2), queue("q", capability={"cpu": "2"}), *running]
    objects += [*gang("a", 1, 1, in_queue="q"), *gang("b", 1, 1, in_queue="q")]

    found = remedy("b", "free-resources", objects)

    assert [each["name"] for each in found["remove"]] == ["r-0", "s-0"]


def test_room_is_freed_in_a_queue_that_may_have_no_more():
    """Nodes have room; and who leaves another queue does not help this one."""
    running = [each for name in ("r", "s") for each in gang(name, 1, 1, in_queue="q", on="n1")]
    objects = [node("n1", cpu=8), queue("q", capability={"cpu": "2"}), *running, pod("other", on="n1")]

    found = remedy("b", "free-resources", [*objects, *gang("b", 1, 1, in_queue="q")])

    assert [each["name"] for each in found["remove"]] == ["r-0"]


def test_more_leave_than_the_gang_lacks_itself_if_nothing_less_does():
    """The node holds two pods more than it takes."""
    small = node("n1", cpu=8)
    small["status"]["allocatable"]["pods"] = "4"
    running = [*gang("r", 1, 3, in_queue="q", on="n1"), *(pod(name, on="n1") for name in ("x", "y", "z"))]
    objects = [small, queue("q", capability={"cpu": "3"}), *running, *gang("b", 1, 1, in_queue="q")]

    found = remedy("b", "free-resources", objects)

    for one in found["remove"]:
        fewer = [each for each in found["remove"] if each != one]
        assert not starts("b", applied(objects, {"patch": [], "remove": fewer}))


def test_a_pod_that_would_come_back_is_named_by_its_owner():
    template = {"spec": {**TEMPLATE, "nodeSelector": {"kubernetes.io/hostname": "n1"}}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "filler", "namespace": "default", "creationTimestamp": "2025-01-01T00:00:00Z"},
        "spec": {"parallelism": 1, "template": template},
    }
    late = gang("late", 1, 1, cpu=2)
    late[0]["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    objects = [node("n1", cpu=2, labels={"kubernetes.io/hostname": "n1"}), job, *late]

    found = remedy("late", "free-resources", objects)

    assert found["remove"] == [{"kind": "Job", "namespace": "default", "name": "filler"}]


# ---------------------------------------------------------------------- quotas


def test_a_capability_is_raised_by_what_is_lacking():
    objects = [node("n1", cpu=16), queue("small", capability={"cpu": "4"}), *gang("a", 3, 3, cpu=2, in_queue="small")]

    found = remedy("a", "raise-quota", objects)

    assert found["patch"][0]["spec"]["capability"] == {"cpu": "6"}
    assert not starts("a", applied(objects, {"patch": [queue("small", capability={"cpu": "5"})], "remove": []}))


def test_a_figure_is_raised_by_not_a_unit_more_than_it_takes():
    objects = [node("n1", cpu=16), queue("small", capability={"cpu": "4"}), *gang("a", 3, 3, cpu=2, in_queue="small")]

    remedy("a", "raise-quota", objects)

    assert not starts("a", applied(objects, {"patch": [queue("small", capability={"cpu": "5999m"})], "remove": []}))


def test_all_figures_are_raised_that_keep_it_out():
    small = queue("small", capability={"cpu": "4", "nvidia.com/gpu": "2"})
    objects = [node("n1", cpu=16, gpu=8), small, *gang("a", 3, 3, cpu=2, gpu=1, in_queue="small")]

    found = remedy("a", "raise-quota", objects)

    assert found["message"] == "capability of queue small: 6 cpu instead of 4, 3 nvidia.com/gpu instead of 2"


def test_a_weight_is_raised_where_queues_share():
    """The other queue waits for room of its own kind; three quarters of all are set aside for it all the same."""
    objects = [
        node("n1", cpu=16),
        queue("large", weight=3),
        queue("small", weight=1),
        *gang("other", 12, 12, in_queue="large", nodeSelector={"pool": "x"}),
        *gang("a", 6, 6, in_queue="small"),
    ]

    assert remedy("a", "raise-quota", objects)["message"] == "weight 2 instead of 1 for queue small"


# ---------------------------------------------------------------------- constraints


def test_a_node_selector_that_no_node_matches_is_dropped_from_all_members():
    objects = [node("n1"), *gang("a", 2, 2, nodeSelector={"pool": "x"})]

    found = remedy("a", "remove-constraint", objects)

    assert found["message"] == "without the node selector pool=x (Pod default/a-0 and Pod default/a-1)"
    assert all("nodeSelector" not in each["spec"] for each in found["patch"])


def test_a_taint_is_tolerated():
    objects = [node("n1", taints=["gpu=yes:NoSchedule"]), *gang("a", 1, 1)]

    found = remedy("a", "remove-constraint", objects)

    assert found["patch"][0]["spec"]["tolerations"] == [
        {"key": "gpu", "effect": "NoSchedule", "operator": "Equal", "value": "yes"}
    ]


def test_a_node_that_is_blocked_twice_does_not_look_curable_by_one_fix():
    objects = [node("n1", taints=["gpu=yes:NoSchedule"]), *gang("a", 1, 1, nodeSelector={"pool": "x"})]

    found = remedy("a", "remove-constraint", objects)

    assert found["message"].startswith("without the node selector pool=x and with a toleration of gpu=yes:NoSchedule")


def test_anti_affinity_is_dropped():
    apart = [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}]
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart}}
    objects = [node("n1", labels={"kubernetes.io/hostname": "n1"}), *gang("a", 2, 2, affinity=affinity)]
    for each in objects[2:]:
        each["metadata"]["labels"] = {"app": "a"}

    found = remedy("a", "remove-constraint", objects)

    assert found["message"].startswith("without the required pod anti-affinity by kubernetes.io/hostname")


def test_a_scheduling_gate_is_lifted():
    objects = [node("n1"), *gang("a", 1, 1, schedulingGates=[{"name": "example.com/ready"}])]

    assert "schedulingGates" not in remedy("a", "remove-constraint", objects)["patch"][0]["spec"]


def test_an_owners_template_is_changed_and_not_its_pods():
    template = {"spec": {**TEMPLATE, "nodeSelector": {"pool": "x"}}}
    template["metadata"] = {"annotations": {"scheduling.k8s.io/group-name": "a"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"}}
    objects = [node("n1"), group("a", 2), {**job, "spec": {"parallelism": 2, "template": template}}]

    found = remedy("a", "remove-constraint", objects)

    assert [each["kind"] for each in found["patch"]] == ["Job"]
    assert "nodeSelector" not in found["patch"][0]["spec"]["template"]["spec"]


def test_pods_of_a_dump_are_made_anew_by_their_owner():
    template = {"spec": {**TEMPLATE, "nodeSelector": {"pool": "x"}}}
    template["metadata"] = {"annotations": {"scheduling.k8s.io/group-name": "a"}}
    meta = {"name": "train", "namespace": "default", "uid": "u"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"parallelism": 2, "template": template}}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u", "controller": True}
    members = [pod(f"train-{name}", of="a", cpu=2, nodeSelector={"pool": "x"}) for name in ("kx2b7", "p9wqz")]
    for member in members:
        member["metadata"]["ownerReferences"] = [owner]

    found = remedy("a", "remove-constraint", [node("n1"), group("a", 2), job, *members])

    assert [each["kind"] for each in found["patch"]] == ["Job"]
    assert [each["name"] for each in found["remove"]] == ["train-kx2b7", "train-p9wqz"]


# ---------------------------------------------------------------------- repairs


def test_a_misspelt_queue_is_taken_for_the_nearest():
    objects = [node("n1"), queue("research"), *gang("a", 1, 1, in_queue="resaerch")]

    assert remedy("a", "fix-spec", objects)["patch"][0]["spec"]["queue"] == "research"


def test_a_missing_queue_is_created():
    objects = [node("n1"), *gang("a", 1, 1, in_queue="science")]

    assert remedy("a", "create-object", objects)["message"] == "Queue science"


def test_a_closed_queue_is_opened():
    objects = [node("n1"), queue("closed", state="Closed"), *gang("a", 1, 1, in_queue="closed")]

    assert remedy("a", "fix-spec", objects)["patch"][0]["status"] == {"state": "Open"}


def test_a_group_that_only_its_pods_name_is_created():
    objects = [node("n1"), *gang("a", 2, 2)[1:]]

    assert remedy("a", "create-object", objects)["message"] == "PodGroup default/a with a minimum of 2"


def test_missing_members_are_made_like_those_that_there_are():
    objects = [node("n1"), *gang("a", 3, 1)]

    found = remedy("a", "create-object", objects)

    assert found["message"] == "2 more pods of this gang like a-0"
    assert not starts("a", [*objects, found["patch"][0]])


def test_a_gang_without_pods_gets_its_first():
    found = remedy("a", "create-object", [node("n1"), *gang("a", 0, 0)])

    assert found["message"] == "1 more pod of this gang"


def test_a_request_that_no_node_could_meet_is_cut_to_what_one_gives():
    objects = [node("n1", cpu=4), node("n2", cpu=2), *gang("a", 1, 1, cpu=8)]

    found = remedy("a", "fix-spec", objects)

    assert found["message"] == "4 cpu per pod instead of 8, which no node has"


def test_of_devices_whole_ones_are_asked_for():
    objects = [node("n1", gpu=4), *gang("a", 3, 3, gpu=8)]

    found = remedy("a", "fix-spec", objects)

    assert found["message"] == "1 nvidia.com/gpu per pod instead of 8, which no node has"


def test_only_the_requests_are_cut_that_are_too_large():
    objects = [node("n1"), node("n2"), with_roles("train", 3, leader=(1, 1, 8), worker=(4, 2, 1))]

    found = remedy("train-00000000-0000-4000-8000-7ecafe6e8c58", "fix-spec", objects)
    tasks = found["patch"][0]["spec"]["tasks"]
    asked = [task["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] for task in tasks]

    assert asked == ["4", "1"]


def test_members_that_wait_for_a_gate_are_not_missing():
    objects = [node("n1"), *gang("a", 2, 2, cpu=3, schedulingGates=[{"name": "example.com/ready"}])]

    assert explained("a", objects)["remedies"] == []


# ---------------------------------------------------------------------- waiting


def test_a_gang_that_will_start_by_itself_needs_only_patience():
    leaving = pod("leaving", cpu=4, on="n1")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    objects = [node("n1"), leaving, *gang("a", 1, 1, cpu=3)]

    explanation = explained("a", objects, cycles=1)

    assert [each["action"] for each in explanation["remedies"]] == ["wait-for"]
    assert explanation["remedies"][0]["patch"] == []
    assert explanation["state"] == "pipelined"


def test_a_request_is_cut_in_the_one_container_that_asks():
    objects = [node("n1", cpu=4), *gang("a", 1, 1, cpu=8)]

    made = remedy("a", "fix-spec", objects)["patch"][0]

    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "4"}
    assert made["spec"]["containers"][0]["image"] == "work"
