"""What an API server would not take is refused, with object, field and what is accepted."""

from typing import Any

import pytest

from posse.errors import InputError
from tests.simulation.scenes import Manifest, after, group, node, owner, pod, template

VOLCANO = "scheduling.volcano.sh/v1beta1"


def queue(weight: int) -> Manifest:
    return owner("Queue", "q", version=VOLCANO, weight=weight)


def job(*tasks: Manifest, **spec: Any) -> Manifest:
    whole = [{"replicas": 1, "template": template(), **task} for task in tasks]
    return owner("Job", "j", version="batch.volcano.sh/v1alpha1", tasks=whole, **spec)


@pytest.mark.parametrize(
    ("thing", "place", "accepted"),
    [
        (queue(-1), "Queue q, spec.weight", "from 0 to 65535"),
        (queue(70000), "Queue q, spec.weight", "from 0 to 65535"),
        (group("g", -3), "PodGroup default/g, spec.minMember", "from 0 up"),
        (group("g", 1, minTaskMember={"w": -1}), "PodGroup default/g, spec.minTaskMember.w", "from 0 up"),
        (job({"name": "w"}, {"name": "w"}), "Job default/j, spec.tasks[1].name", "another name"),
        (job({"name": "Big_One"}), "Job default/j, spec.tasks[0].name", "a-z, 0-9 and -"),
        (job({"name": "w"}, minAvailable=-1), "Job default/j, spec.minAvailable", "from 0 up"),
        (pod("p", run_time="1s", exit="300"), "Pod default/p, metadata.annotations[posse.dev/exit]", "0 to 255"),
        (pod("a/b"), "Pod default/a/b, metadata.name", "a-z, 0-9, - and ."),
        (pod("P"), "Pod default/P, metadata.name", "a-z, 0-9, - and ."),
        (node("n" * 254), f"Node {'n' * 254}, metadata.name", "at most 253"),
        (pod("p\x1b[31m"), "Pod default/p\\x1b[31m, metadata.name", "a-z, 0-9, - and ."),
        (pod("p", metadata={"namespace": "a.b"}), "Pod a.b/p, metadata.namespace", "a-z, 0-9 and -"),
        (owner("Widget", "a/b", version="x/v1"), "Widget default/a/b, metadata.name", "without / and %"),
    ],
)
def test_what_no_api_server_would_take_is_refused(thing: Manifest, place: str, accepted: str) -> None:
    with pytest.raises(InputError) as caught:
        after(thing)

    assert str(caught.value.place) == place
    assert accepted in caught.value.accepted


def test_a_weight_of_zero_is_upstreams_way_to_say_nothing() -> None:
    assert "q" in after(queue(0))["queues"]


def test_names_of_kinds_that_nobody_reads_may_be_anything_that_goes_into_a_path() -> None:
    after(owner("ClusterRole", "system:masters", version="rbac.authorization.k8s.io/v1"))
