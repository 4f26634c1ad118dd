"""The reference against numbers worked out by hand: few of each rule, for it is what other tests lean on."""

import pytest

from posse.cluster.facts import (
    Amounts,
    GangFact,
    Image,
    NodeFact,
    PodTerm,
    QueueFact,
    Shape,
    Spread,
    Taint,
    TaskFact,
    Toleration,
)
from posse.cluster.selectors import Requirement, Selector

from .cluster import Cluster
from .cycle import Outcome, Policy, run_cycle
from .filters import refusal
from .node_rules import tolerates
from .placement import Chooser, place_gang
from .pod_terms import affinity_scores
from .proportion import deserved
from .quirks import UPSTREAM
from .scores import MEBI, Binpack, balanced_score, binpack_score, image_score, requested_scores
from .spreading import spread_scores

GIBI = 2**30
ZONE = "topology.kubernetes.io/zone"
WEB = Selector((Requirement("app", "In", ("web",)),))


def amounts(**given: int) -> Amounts:
    return tuple(sorted(given.items()))


def node(name: str, *, cpu: int = 4000, memory: int = 8, pods: int = 110, zone: str = "", **fields: object) -> NodeFact:
    labels = {ZONE: zone} if zone else {}
    return NodeFact(
        **{"name": name, "allocatable": amounts(cpu=cpu, memory=memory * GIBI, pods=pods), "labels": labels, **fields}  # type: ignore[arg-type]
    )


def task(name: str, *, cpu: int = 1000, memory: int = 1, on: str = "", gang: str = "", **fields: object) -> TaskFact:
    shape = {key: fields.pop(key) for key in list(fields) if key in Shape.__struct_fields__}
    asks = {key: value for key, value in (("cpu", cpu), ("memory", memory * GIBI)) if value}
    described = Shape(
        requests=amounts(pods=1, **asks),
        scored_cpu=cpu or 100,
        scored_memory=memory * GIBI or 200 * MEBI,
        **shape,  # type: ignore[arg-type]
    )
    known = {"namespace": "default", "name": name, "uid": name, "labels": {"app": "web"}, "gang": gang}
    state = {"node": on, "phase": "Running" if on else "Pending"}
    return TaskFact(**{**known, **state, "shape": described, **fields})  # type: ignore[arg-type]


def gang(name: str, minimum: int, **fields: object) -> GangFact:
    known = {"key": name, "namespace": "default", "name": name, "queue": "default", "min_member": minimum}
    return GangFact(**{**known, **fields})  # type: ignore[arg-type]


def by_name(name: str) -> int:
    return int(name.rpartition("-")[2])


def decided(*facts: NodeFact | TaskFact | GangFact | QueueFact, policy: Policy = Policy()) -> Outcome:  # noqa: B008
    return run_cycle(Cluster.of([QueueFact(key="default", name="default"), *facts]), Chooser(by_name), policy)


def test_a_gang_is_placed_whole_or_not_at_all() -> None:
    crew = [task(f"g-w-{number}", gang="g", cpu=3000) for number in range(3)]
    assert not decided(node("n-0"), node("n-1"), gang("g", 3), *crew).binds
    assert len(decided(node("n-0"), node("n-1"), node("n-2"), gang("g", 3), *crew).binds) == 3


def test_a_surplus_member_follows_once_the_minimum_is_met() -> None:
    crew = [task(f"g-w-{number}", gang="g", cpu=3000) for number in range(3)]
    assert set(decided(node("n-0"), node("n-1"), gang("g", 1), *crew).binds) == {"default/g-w-0", "default/g-w-1"}


def test_a_gang_waits_on_a_node_for_those_who_are_leaving() -> None:
    leaving = task("old", cpu=4000, on="n-0", terminating=True)
    outcome = decided(node("n-0"), leaving, gang("g", 1), task("g-w-0", gang="g"))
    assert (outcome.binds, outcome.pipelined) == ({}, {"default/g-w-0": "n-0"})


def test_a_node_that_promised_too_much_memory_refuses_pods_that_ask_for_none() -> None:
    cluster = Cluster.of([node("n-0", memory=1), task("fat", memory=2, on="n-0"), task("lean", memory=0)])
    assert refusal(cluster, cluster.tasks["default/lean"], cluster.nodes["n-0"]) == "insufficient memory"


@pytest.mark.parametrize(
    ("operator", "value", "bears"), [("Lt", "50", True), ("Gt", "50", False), ("Lt", "050", False)]
)
def test_tolerations_compare_the_taints_number_with_their_own(operator: str, value: str, bears: bool) -> None:
    toleration = Toleration("risk", operator, value)  # type: ignore[arg-type]
    assert tolerates(toleration, Taint("risk", "20")) is bears


def test_the_first_pod_of_its_kind_may_seek_its_own_kind() -> None:
    lonely = task("one", near=(PodTerm(ZONE, WEB, ("default",)),))
    cluster = Cluster.of([node("n-0", zone="a"), node("n-1"), lonely])
    assert refusal(cluster, lonely, cluster.nodes["n-0"]) is None
    assert refusal(cluster, lonely, cluster.nodes["n-1"]) == "pod affinity"


def test_requested_scores_are_cut_off_at_every_step() -> None:
    cluster = Cluster.of([node("n-0", cpu=3000, memory=3), task("new")])
    # cpu: 2000 * 100 // 3000 = 66, memory the same; most requested: 1000 * 100 // 3000 = 33.
    assert requested_scores(cluster, cluster.tasks["default/new"], cluster.nodes["n-0"]) == (66, 33)


def test_balance_is_half_the_difference_of_two_shares() -> None:
    cluster = Cluster.of([node("n-0", cpu=4000, memory=8), task("new", cpu=1000, memory=4)])
    # shares 1/4 and 1/2: deviation 1/8.
    assert balanced_score(cluster, cluster.tasks["default/new"], cluster.nodes["n-0"]) == 87


def test_binpack_gives_nothing_to_a_node_that_must_first_become_free() -> None:
    cluster = Cluster.of([node("n-0"), task("old", cpu=1000, memory=1, on="n-0"), task("new"), task("big", cpu=3500)])
    # cpu 2000/4000, memory 2/8, equal weights: 37.5.
    assert binpack_score(cluster, cluster.tasks["default/new"], cluster.nodes["n-0"], Binpack()) == 37.5
    assert binpack_score(cluster, cluster.tasks["default/big"], cluster.nodes["n-0"], Binpack()) == 0.0


def test_an_image_counts_by_its_size_and_by_how_many_nodes_have_it() -> None:
    image = Image(("app:1",), 1046 * MEBI)
    cluster = Cluster.of([node("n-0", images=(image,)), node("n-1"), task("new", images=("app:1",))])
    # half of 1046 MiB is 523; 100 * (523 - 23) // (1000 - 23) = 51.
    assert image_score(cluster, cluster.tasks["default/new"], cluster.nodes["n-0"]) == 51


def test_preferences_of_pods_that_lie_count_as_much_as_those_of_the_new_one() -> None:
    shy = PodTerm(ZONE, WEB, ("default",), None, 10)
    cluster = Cluster.of(
        [node("n-0", zone="a"), node("n-1", zone="b"), task("old", on="n-0", preferred_apart=(shy,)), task("new")]
    )
    scores = affinity_scores(cluster, cluster.tasks["default/new"], list(cluster.nodes.values()))
    assert scores == {"n-0": 0, "n-1": 100}


def test_soft_spread_prefers_the_emptier_zone_and_ignores_nodes_without_one() -> None:
    spread = Spread(ZONE, hard=False, selector=WEB)
    cluster = Cluster.of(
        [
            node("n-0", zone="a"),
            node("n-1", zone="b"),
            node("n-2"),
            task("old", on="n-0"),
            task("new", spread=(spread,)),
        ]
    )
    # one pod times ln(2 zones + 2) = 1.39, rounded 1; the other zone 0.
    scores = spread_scores(cluster, cluster.tasks["default/new"], list(cluster.nodes.values()))
    assert scores == {"n-0": 0, "n-1": 100, "n-2": 0}


def test_queues_deserve_by_weight_what_others_do_not_ask_for() -> None:
    queues = [QueueFact(key="heavy", name="heavy", weight=3), QueueFact(key="light", name="light", weight=1)]
    crews = [task(f"l-w-{number}", gang="l", memory=0) for number in range(4)] + [task("h-w-0", gang="h", memory=0)]
    gangs = [gang("h", 1, queue="heavy"), gang("l", 1, queue="light")]
    shares = deserved(Cluster.of([node("n-0", cpu=4000), *queues, *gangs, *crews]))
    # heavy asks for 1000 of its 3000; the 2000 it leaves go to light, who had 1000.
    assert (shares["heavy"]["cpu"], shares["light"]["cpu"]) == (1000.0, 3000.0)


def test_a_gang_that_asks_for_more_than_the_factor_allows_is_not_admitted() -> None:
    def phase(cpu: int) -> str:
        asking = gang("g", 1, min_resources=amounts(cpu=cpu))
        return decided(node("n-0"), asking, policy=Policy(admission=(("overcommit",),))).phases["g"]

    assert (phase(4800), phase(4801)) == ("Inqueue", "Pending")


def test_a_role_without_its_minimum_keeps_the_gang_from_running() -> None:
    crew = [task("g-ps-0", gang="g", role="ps", cpu=5000), task("g-w-0", gang="g", role="w")]
    assert not decided(node("n-0"), gang("g", 1, min_roles=(("ps", 1),)), *crew).binds


def test_remembering_roles_breaks_a_hard_spread() -> None:
    spread = Spread(ZONE, selector=WEB)
    crew = [task(f"g-w-{number}", gang="g", role="w", cpu=100, spread=(spread,)) for number in range(4)]
    zones = node("n-0", zone="a"), node("n-1", zone="b")
    assert len(decided(*zones, gang("g", 4), *crew).binds) == 4
    assert not decided(*zones, gang("g", 4), *crew, policy=Policy(quirks=UPSTREAM)).binds


def test_best_effort_members_are_filled_in_last() -> None:
    crew = [task("g-w-0", gang="g"), task("g-w-1", gang="g", cpu=0, memory=0)]
    assert set(decided(node("n-0"), gang("g", 2), *crew).binds) == {"default/g-w-0", "default/g-w-1"}
    assert set(decided(node("n-0"), gang("g", 2), *crew, policy=Policy(actions=("enqueue", "allocate"))).binds) == {
        "default/g-w-0"
    }


def test_tasks_that_do_not_reach_the_minimum_leave_no_trace() -> None:
    crew = [task(f"g-w-{number}", cpu=3000) for number in range(2)]
    cluster = Cluster.of([node("n-0"), *crew])
    assert place_gang(cluster, crew, 2, Chooser(by_name)) is None
    assert set(cluster.status.values()) == {"pending"}
