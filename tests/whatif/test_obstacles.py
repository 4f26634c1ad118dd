"""Whoever waits is told why: what blocks, with counts, every requirement alone and together."""

from tests.whatif.pictures import explained, gang, node, pod, queue, with_roles


def blockers(name, objects, **line):
    return {each["kind"]: each for each in explained(name, objects, **line)["blockers"]}


def clauses(blocker):
    return {each["clause"]: (each["alone"], each["so_far"]) for each in blocker["clauses"]}


def test_nodes_are_counted_by_their_first_refusal():
    objects = [
        node("free", cpu=1),
        node("tainted", taints=["gpu=yes:NoSchedule"]),
        node("right-1", cpu=8),
        *gang("a", 2, 2, cpu=6),
    ]

    blocker = blockers("a", objects)["nodes"]

    assert sum(blocker["nodes"].values()) == 3
    assert (blocker["have"], blocker["need"], blocker["unit"]) == (1, 2, "pods")


def test_every_requirement_is_asked_alone_and_together():
    objects = [
        node("a100", cpu=1, labels={"pool": "a100"}),
        node("cpu-1", cpu=16),
        node("cpu-2", cpu=16),
        *gang("a", 1, 1, cpu=8, nodeSelector={"pool": "a100"}),
    ]

    asked = clauses(blockers("a", objects)["nodes"])

    assert asked["nodeSelector pool=a100"] == (1, 1)
    assert asked["cpu 8"] == (2, 0)


def test_too_few_members():
    blocker = blockers("a", [node("n1"), *gang("a", 3, 2)])["validity"]

    assert (blocker["have"], blocker["need"], blocker["unit"]) == (2, 3, "pods")


def test_a_gate():
    gates = [{"name": "example.com/ready"}]
    explanation = explained("a", [node("n1"), *gang("a", 1, 1, schedulingGates=gates)])

    assert explanation["state"] == "gated"
    assert [each["kind"] for each in explanation["blockers"]] == ["gates"]


def test_a_queue_that_is_not_there():
    blocker = blockers("a", [node("n1"), *gang("a", 1, 1, in_queue="nowhere")])["queue"]

    assert blocker["message"] == "there is no queue nowhere"


def test_a_queue_that_is_closed():
    objects = [node("n1"), queue("closed", state="Closed"), *gang("a", 1, 1, in_queue="closed")]

    assert "closed" in blockers("a", objects)["queue"]["message"]


def test_a_queue_that_may_have_no_more_in_its_own_units():
    objects = [node("n1", cpu=16), queue("small", capability={"cpu": "4"}), *gang("a", 3, 3, cpu=2, in_queue="small")]

    blocker = blockers("a", objects)["queue"]

    assert (blocker["have"], blocker["need"], blocker["unit"]) == (0, 2, "cpu")


def test_a_queue_that_has_all_it_deserves_in_its_own_units():
    full = queue("full", capability={"cpu": "2", "pods": "2"})
    objects = [node("n1"), full, *gang("runs", 2, 2, in_queue="full", on="n1"), *gang("a", 3, 3, in_queue="full")]

    blocker = blockers("a", objects)["queue"]

    assert blocker["message"] == "queue full has all that it deserves"
    assert (blocker["have"], blocker["need"], blocker["unit"]) == (0, 3, "cpu")


def test_a_closed_queue_is_a_queue_that_is_lacking():
    objects = [node("n1"), queue("closed", state="Closed"), *gang("a", 1, 1, in_queue="closed")]

    blocker = blockers("a", objects)["queue"]

    assert (blocker["have"], blocker["need"], blocker["unit"]) == (0, 1, "queues")


def test_a_gang_without_pods_is_blocked_by_that_alone():
    found = explained("a", [node("n1"), *gang("a", 0, 0)])["blockers"]

    assert [(each["kind"], each["message"]) for each in found] == [
        ("validity", "it has no pods, so nothing is to be placed")
    ]


def test_a_gang_that_was_promised_its_room_waits_for_nothing_else():
    leaving = pod("leaving", cpu=4, on="n1")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"

    found = explained("a", [node("n1"), leaving, *gang("a", 2, 2, cpu=2)], cycles=1)["blockers"]

    assert [each["message"] for each in found] == ["2 pods have a node promised whose room is still being freed"]
    assert (found[0]["have"], found[0]["need"], found[0]["unit"]) == (0, 2, "pods")


def test_a_group_that_nobody_declared():
    blocker = blockers("a", [node("n1"), *gang("a", 2, 2)[1:]])["validity"]

    assert blocker["message"] == "2 pods name the group default/a, and there is no such group"


def test_everybody_who_waits_has_a_blocker():
    objects = [
        node("n1"),
        pod("runs", cpu=4, on="n1"),
        *gang("full", 1, 1, cpu=4),
        *gang("empty", 2, 0),
        *gang("nowhere", 1, 1, in_queue="nowhere"),
        pod("lone", cpu=4),
    ]

    for name in ("full", "empty", "nowhere", "lone"):
        assert explained(name, objects)["blockers"], name


def test_a_gang_that_has_its_minimum_is_not_searched():
    explanation = explained("a", [node("n1"), *gang("a", 1, 2, cpu=1)])

    assert explanation["state"] == "running"
    assert explanation["blockers"] == explanation["remedies"] == []
    assert explanation["summary"] == "has its minimum: 2 of 2 pods have a node, 1 is needed"


def test_one_pod_is_spoken_of_as_one():
    explanation = explained("a", [node("n1"), *gang("a", 1, 1, cpu=1)])

    assert explanation["summary"] == "has its minimum: 1 of 1 pod has a node, 1 is needed"


def kinds(name, objects, **line):
    return [each["kind"] for each in explained(name, objects, **line)["blockers"]]


def test_in_a_full_cluster_nodes_are_named_before_the_queue_that_has_all_of_it():
    objects = [node("n1", cpu=8), *gang("runs", 4, 4, cpu=2, on="n1"), *gang("a", 2, 2, cpu=2)]

    assert kinds("a", objects) == ["nodes", "queue"]


def test_a_queue_is_named_where_raising_it_is_enough():
    objects = [node("n1", cpu=16), queue("small", capability={"cpu": "4"}), *gang("a", 3, 3, cpu=2, in_queue="small")]

    assert kinds("a", objects)[0] == "queue"


def test_members_of_other_roles_do_not_fill_the_place_of_one_that_fits_nowhere():
    objects = [node("n1"), node("n2"), with_roles("train", 3, leader=(1, 1, 8), worker=(4, 2, 1))]

    explanation = explained("train-00000000-0000-4000-8000-7ecafe6e8c58", objects)

    assert explanation["summary"].endswith("2 of 3 pods fit")
    assert explanation["blockers"][0]["message"].startswith("0/2 nodes take default/train-leader-0")
