"""Objects in any order, facts out."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.facts import BudgetFact, GangFact, Gone, Observation, PodTerm, QueueFact, QuotaFact, TaskFact
from posse.dialects.translator import Translator
from posse.kube.meta import KubeObject
from posse.kube.objects import Pod
from tests.kube.builders import budget, namespace, node, pod, pod_group, priority_class, queue, quota, thing

GROUP = "scheduling.k8s.io/group-name"


def member(name: str, group: str = "g", **more: object) -> Pod:
    return pod(name, metadata={"uid": f"uid-{name}", "annotations": {GROUP: group}}, **more)  # type: ignore[arg-type]


def lone(name: str, uid: str = "u", **spec: object) -> Pod:
    return pod(name, metadata={"uid": uid}, **spec)  # type: ignore[arg-type]


Held = dict[tuple[str, str], Observation]
"""What a world would hold: kind and key of each fact, and the fact."""


def facts_after(things: Iterable[KubeObject], translator: Translator | None = None) -> Held:
    translator = translator or Translator()
    held: Held = {}
    for one in things:
        take_in(held, translator.put(one))
    return held


def take_in(held: Held, observations: Iterable[Observation]) -> None:
    for one in observations:
        match one:
            case Gone():
                held.pop((one.kind, one.key), None)
            case GangFact() | QueueFact() | TaskFact():
                held[kind_of(one), one.key] = one
            case BudgetFact() | QuotaFact():
                held[kind_of(one), f"{one.namespace}/{one.name}"] = one
            case _:
                held[kind_of(one), one.name] = one


def kind_of(fact: Observation) -> str:
    return str(type(fact).__struct_config__.tag)


def tasks_of(observations: Iterable[Observation]) -> list[TaskFact]:
    return [one for one in observations if isinstance(one, TaskFact)]


def test_a_pod_with_a_group_name_is_a_member_of_that_gang() -> None:
    (task,) = Translator().put(member("p"))

    assert isinstance(task, TaskFact)
    assert task.gang == "default/g"


def test_membership_needs_no_pod_group_to_be_there() -> None:
    assert tasks_of(Translator().put(member("p", "not-yet")))[0].gang == "default/not-yet"


def test_a_pod_without_a_group_is_a_gang_of_one() -> None:
    gang, task = Translator().put(lone("p", priorityClassName="high"))

    assert isinstance(gang, GangFact)
    assert (gang.key, gang.min_member, gang.dialect, gang.queue) == ("default/p (plain)", 1, "plain", "default")
    assert (gang.uid, gang.priority_class, gang.rules.gated_by_queue) == ("u", "high", False)
    assert tasks_of([task])[0].gang == gang.key


def test_a_lone_pod_of_volcanos_scheduler_speaks_volcano_and_may_name_its_queue() -> None:
    asked = pod("p", schedulerName="volcano", metadata={"annotations": {"scheduling.volcano.sh/queue-name": "q"}})
    gang = Translator().put(asked)[0]

    assert isinstance(gang, GangFact)
    assert (gang.key, gang.dialect, gang.queue) == ("default/p (plain)", "volcano", "q")


def test_an_empty_group_name_is_no_membership() -> None:
    assert tasks_of(Translator().put(member("p", "")))[0].gang == "default/p (plain)"


def test_pods_of_other_schedulers_only_use_room() -> None:
    translator = Translator(["volcano"])

    (foreign,) = translator.put(member("p", schedulerName="other", nodeName="n"))
    (unnamed,) = translator.put(lone("q"))

    assert [task.gang for task in tasks_of([foreign, unnamed])] == ["", ""]


def test_a_pod_that_names_no_scheduler_is_the_default_schedulers() -> None:
    assert tasks_of(Translator(["default-scheduler"]).put(lone("p")))[0].gang == "default/p (plain)"


def test_a_lone_pods_gang_goes_with_the_pod() -> None:
    translator = Translator()
    translator.put(lone("p"))

    assert translator.remove("Pod", "default", "p", "u") == [
        Gone(kind="task", key="default/p", uid="u"),
        Gone(kind="gang", key="default/p (plain)", uid="u"),
    ]


def test_the_removal_of_an_earlier_pod_leaves_the_gang_of_a_later_one() -> None:
    translator = Translator()
    translator.put(lone("p", "second"))

    assert translator.remove("Pod", "default", "p", "first") == [Gone(kind="task", key="default/p", uid="first")]


def test_a_lone_pod_that_joins_a_group_leaves_no_gang_behind() -> None:
    translator = Translator()
    translator.put(lone("p"))

    gone, task = translator.put(member("p"))

    assert gone == Gone(kind="gang", key="default/p (plain)", uid="u")
    assert tasks_of([task])[0].gang == "default/g"


def test_each_kind_is_gone_by_its_own_key() -> None:
    translator = Translator()
    gone = [
        *translator.remove("Node", "", "n", "u"),
        *translator.remove("PodGroup", "ns", "g"),
        *translator.remove("Queue", "", "q"),
        *translator.remove("ResourceQuota", "ns", "r"),
    ]

    assert [(one.kind, one.key) for one in gone if isinstance(one, Gone)] == [
        ("node", "n"),
        ("gang", "ns/g"),
        ("queue", "q"),
        ("quota", "ns/r"),
    ]


def test_kinds_that_mean_nothing_to_the_model_say_nothing() -> None:
    widget = thing("x.io/v1", "Widget", "w")

    assert (Translator().put(widget), Translator().remove("Widget", "", "w")) == ([], [])


def test_a_job_of_batch_and_a_volcano_job_are_no_facts() -> None:
    assert Translator().put(thing("batch/v1", "Job", "j", "default")) == []


PICTURE = [
    node("n1"),
    node("n2", taints=[{"key": "gpu", "effect": "NoSchedule"}]),
    namespace("default", labels={"team": "x"}),
    priority_class("high", 10),
    queue("q", weight=2),
    pod_group("g", minMember=2, queue="q"),
    member("m1"),
    member("m2", nodeName="n1", status={"phase": "Running"}),
    lone("l1"),
    lone("l2", schedulerName="volcano"),
    lone("l3", schedulerName="other"),
    budget("b", selector={}),
    quota("r", pods="5"),
]


@given(st.permutations(PICTURE), st.lists(st.sampled_from(PICTURE), max_size=5), st.booleans())
def test_any_order_and_repetition_of_objects_ends_in_the_same_facts(
    order: list[KubeObject], again: list[KubeObject], everybody: bool
) -> None:
    names = None if everybody else ["volcano", "default-scheduler"]
    wanted = facts_after(PICTURE, Translator(names))

    assert facts_after([*order, *again], Translator(names)) == wanted


@given(st.permutations(PICTURE))
def test_what_is_put_and_removed_leaves_nothing(order: list[KubeObject]) -> None:
    translator = Translator()
    held = facts_after(order, translator)

    for one in order:
        meta = one.metadata
        take_in(held, translator.remove(one.kind_name, meta.namespace, meta.name, meta.uid))

    assert held == {}


def test_queues_are_known_by_name() -> None:
    (fact,) = Translator().put(queue("q"))

    assert isinstance(fact, QueueFact)
    assert fact.key == "q"


def test_terms_of_a_member_know_its_namespace() -> None:
    term = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]}
    (task,) = tasks_of(Translator().put(member("p", affinity={"podAffinity": term})))

    assert [one.namespaces for one in task.shape.near if isinstance(one, PodTerm)] == [("default",)]
