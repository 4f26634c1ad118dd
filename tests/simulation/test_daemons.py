"""Daemons on nodes that come later: there before anybody else, as far as they fit."""

from tests.whatif.pictures import daemon, daemon_set, gang, node, run


def bound(objects, *new, **line):
    """Where pods are when new nodes have come."""
    result = run(objects, steps=[{"after_cycle": 3, "apply": list(new)}], objects_out=True, what_if_runs=0, **line)
    pods = [each for each in result["objects"] if each["kind"] == "Pod"]
    return {each["metadata"]["name"]: each["spec"].get("nodeName") for each in pods}


def test_a_daemon_is_on_a_new_node_before_those_who_wait_for_it():
    objects = [node("n1", cpu=2), daemon_set("z-agent"), *gang("a", 1, 1, cpu=4)]

    assert bound(objects, node("n2")) == {"z-agent-n1": "n1", "z-agent-n2": "n2", "a-0": None}


def test_daemons_of_another_scheduler_have_their_room_too():
    objects = [node("n1"), daemon_set("agent"), *gang("a", 1, 1, cpu=4, schedulerName="volcano")]

    assert bound(objects, node("n2"), schedulerNames=["volcano"])["agent-n2"] == "n2"


def test_a_daemon_that_does_not_fit_is_in_nobodys_way():
    objects = [node("n1", cpu=1), daemon_set("agent", cpu=2), *gang("a", 2, 2)]

    where = bound(objects, node("n2", cpu=1))

    assert (where["agent-n2"], {where["a-0"], where["a-1"]}) == (None, {"n1", "n2"})


def test_of_daemons_that_do_not_all_fit_the_most_urgent_is_bound():
    objects = [node("n1"), daemon_set("a", cpu=3), daemon_set("b", cpu=3, priority=10)]

    where = bound(objects, node("n2"))

    assert (where["a-n2"], where["b-n2"]) == (None, "n2")


def test_a_daemon_without_its_owner_comes_to_nodes_like_its_own():
    objects = [node("n1", labels={"pool": "x"}), daemon("agent-k2b7x", "n1")]

    where = bound(objects, node("n2", labels={"pool": "x"}), node("n3", labels={"pool": "y"}))

    assert where == {"agent-n2": "n2"}


def test_a_daemon_without_its_owner_goes_where_it_bears_the_taints():
    objects = [node("n1"), daemon("agent-k2b7x", "n1")]

    assert "agent-n2" not in bound(objects, node("n2", taints=["gpu=yes:NoSchedule"]))
