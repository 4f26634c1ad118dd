"""What a result says of objects: what scheduler and controllers made or changed, as manifests."""

from typing import Any

from posse.errors import Place
from posse.kube.manifests import from_values
from tests.builders import conf
from tests.simulation.scenes import START, Manifest, after, group, job, node, owner, pod, step, template

CROWDED = (node(cpu="2"), group("a", 3), *(pod(f"a-{number}", group="a") for number in range(3)))


def objects(*manifests: Manifest, **more: Any) -> dict[str, Manifest]:
    """The objects of a result, by kind and name."""
    found = after(*manifests, objects_out=True, **more)["objects"]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def scheduled(manifest: Manifest) -> Manifest:
    """The condition that says whether a pod has a node."""
    (found,) = (each for each in manifest["status"]["conditions"] if each["type"] == "PodScheduled")
    return dict(found)


def test_a_result_has_no_objects_unless_asked() -> None:
    assert "objects" not in after(node(), pod("a"))


def test_what_nobody_touched_is_left_out() -> None:
    assert "Node n1" not in objects(node(), pod("a"))
    assert objects(node()) == {}


def test_a_bound_pod_has_its_node_and_runs() -> None:
    found = objects(node(), pod("a"))["Pod a"]
    assert found["spec"]["nodeName"] == "n1"
    assert found["status"]["phase"] == "Running"
    assert found["status"]["startTime"] == "2026-01-01T00:00:01Z"
    assert scheduled(found) == {"type": "PodScheduled", "status": "True", "lastTransitionTime": START}


def test_a_waiting_pod_says_why() -> None:
    result = after(*CROWDED, objects_out=True)
    waiting = next(each for each in result["objects"] if each["metadata"]["name"] == "a-0")
    said = result["pods"]["default/a-0"]
    assert waiting["status"]["phase"] == "Pending"
    assert scheduled(waiting) == {
        "type": "PodScheduled",
        "status": "False",
        "reason": said["reason"],
        "message": said["message"],
        "lastTransitionTime": START,
    }


def test_a_pod_that_waited_and_was_bound_later_has_the_time_it_was_bound() -> None:
    found = objects(node(cpu="1"), pod("a", run_time="10s"), pod("b"))
    assert scheduled(found["Pod b"])["lastTransitionTime"] == "2026-01-01T00:00:11Z"


def test_a_condition_keeps_its_time_as_long_as_it_does_not_turn() -> None:
    before = {"type": "PodScheduled", "status": "False", "lastTransitionTime": "2025-12-31T00:00:00Z"}
    ready = {"type": "Ready", "status": "False"}
    found = objects(node(cpu="1"), pod("a", cpu="2", status={"conditions": [before, ready]}))["Pod a"]
    assert scheduled(found)["lastTransitionTime"] == "2025-12-31T00:00:00Z"
    assert ready in found["status"]["conditions"]


def test_a_promised_pod_names_its_node() -> None:
    going = {"deletionTimestamp": "2026-01-01T01:00:00Z"}
    leaving = pod("old", on="n1", status={"phase": "Running"}, metadata=going)
    found = objects(node(cpu="1"), leaving, pod("new"), cycles=2)
    assert found["Pod new"]["status"]["nominatedNodeName"] == "n1"
    assert "nodeName" not in found["Pod new"]["spec"]


def test_a_pod_group_has_its_status() -> None:
    status = objects(*CROWDED)["PodGroup a"]["status"]
    assert status["phase"] == "Inqueue"
    assert [(each["type"], each["status"], each["reason"]) for each in status["conditions"]] == [
        ("Unschedulable", "True", "NotEnoughResources")
    ]


def test_a_queue_and_those_above_it_say_what_is_in_use() -> None:
    found = objects(
        node(),
        owner("Queue", "q", version="scheduling.volcano.sh/v1beta1"),
        group("a", 1, queue="q"),
        pod("p", group="a"),
    )
    assert found["Queue q"]["status"]["allocated"] == {"cpu": "1", "pods": "1"}
    assert found["Queue root"]["status"]["allocated"] == {"cpu": "1", "pods": "1"}
    assert "Queue default" not in found


def test_what_a_controller_made_is_there_whoever_schedules_it() -> None:
    made = {"replicas": 2, "selector": {}, "template": template()}
    found = objects(node(), owner("Deployment", "web", **made), scheduler_names=("nobody",))
    kinds = sorted(name.partition(" ")[0] for name in found)
    assert kinds == ["Pod", "Pod", "ReplicaSet"]
    assert {each["status"]["phase"] for name, each in found.items() if name.startswith("Pod ")} == {"Pending"}


def test_a_budget_that_said_nothing_of_its_status_has_one() -> None:
    budget = owner("PodDisruptionBudget", "b", version="policy/v1", minAvailable=0, selector={})
    assert objects(budget)["PodDisruptionBudget b"]["status"] is not None


def test_what_was_deleted_is_not_there() -> None:
    assert "Pod a" not in objects(node(), pod("a"), steps=(step(2, delete="Pod a"),))


def test_objects_are_in_natural_order_whatever_the_order_of_the_input() -> None:
    given = (node(cpu="20"), job("j", 12, 12), group("a", 1), pod("a-0", group="a"))
    names = [(each["kind"], each["metadata"]["name"]) for each in after(*given, objects_out=True)["objects"]]
    assert names[:4] == [("Pod", "a-0"), ("Pod", "j-0"), ("Pod", "j-1"), ("Pod", "j-2")]
    assert names[-4:] == [("Pod", "j-11"), ("PodGroup", "a"), ("Queue", "default"), ("Queue", "root")]
    assert after(*given, objects_out=True) == after(*reversed(given), objects_out=True)


def test_what_comes_out_goes_in_again_and_stands_as_it_stood() -> None:
    first = after(*CROWDED, objects_out=True)
    again = after(CROWDED[0], *first["objects"], objects_out=True)
    assert again["binds"] == first["binds"]
    assert again["pods"] == first["pods"]
    assert again["gangs"]["default/a"]["phase"] == "Inqueue"


def test_every_object_is_a_manifest_that_can_be_read() -> None:
    found = list(objects(*CROWDED, job("j", 2, 1, run_time="1s")).values())
    assert [str(each.decode()) for each in from_values(found, Place())]


def test_a_pod_group_that_came_anew_has_no_status_of_the_one_before() -> None:
    steps = (step(2, delete="PodGroup a"), step(3, group("a", 3)))
    found = objects(*CROWDED, steps=steps, configuration=conf("gang", "predicates"), cycles=4)
    (condition,) = found["PodGroup a"]["status"]["conditions"]
    assert condition["lastTransitionTime"] == "2026-01-01T00:00:03Z"
