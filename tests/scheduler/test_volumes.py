"""Pods go where their volumes are, or can be."""

from typing import Any

import pytest

from posse.cluster.facts import Gone, Observation
from posse.cluster.records import Bind, CycleInput, CycleResult, Refused
from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.cluster.storage_facts import (
    AttachLimitsFact,
    StorageCapacityFact,
    StorageClassFact,
    StorageDriverFact,
)
from posse.cluster.volume_plans import VolumePlan, plan_in
from posse.scheduler.engine import Engine
from posse.scheduler.volumes.book import VolumeBook
from tests.builders import crew, cycle, engine, gang, task
from tests.scheduler.volumes import (
    CONF,
    GI,
    LOCAL,
    MADE,
    N1,
    N2,
    N3,
    ZONE,
    bound_to,
    claim,
    claims,
    made_at,
    nodes_of,
    place,
    pod,
    scheduler,
    volume,
)


def alone(*facts: Observation, uses: tuple[str, ...] = ("data",), own: bool = False, strict: bool = True) -> Engine:
    """A cluster of three nodes in two zones, and one pod."""
    one = task("p", "a", shape=claims(*uses, own=own))
    return scheduler(N1, N2, N3, LOCAL, MADE, gang("a"), one, *facts, strict=strict)


def plans_of(result: CycleResult) -> dict[str, VolumePlan]:
    effects = [effect for effect in result.effects if isinstance(effect, Bind)]
    return {payload.name: plan_in(payload) for effect in effects for payload in effect.payloads}


def told(running: Engine) -> str:
    """What the pod is told that waits."""
    (verdict,) = cycle(running).verdicts
    return verdict.pods[0].message.removeprefix("0/3 nodes are unavailable: ").removesuffix(".")


# ---------------------------------------------------------------- claims that have their volume


def test_a_pod_goes_where_its_volume_can_be_reached_and_nothing_is_to_be_done() -> None:
    result = cycle(alone(claim("data", has="v"), volume("v", on="n2", claim="default/data")))

    assert nodes_of(result) == {"p": "n2"}
    assert plans_of(result) == {}


def test_one_that_no_node_reaches_is_waited_for() -> None:
    assert told(alone(claim("data", has="v"), volume("v", on="n9"))) == "3 volume cannot be reached"


def test_the_labels_of_a_volume_say_in_which_zone_it_is() -> None:
    zone = (Requirement(ZONE, "In", ("east",)),)

    assert nodes_of(cycle(alone(claim("data", has="v"), volume("v", zones=zone)))) == {"p": "n1"}


def test_old_labels_of_a_volume_mean_the_labels_of_today() -> None:
    zone = (Requirement("failure-domain.beta.kubernetes.io/zone", "In", ("east",)),)

    assert nodes_of(cycle(alone(claim("data", has="v"), volume("v", zones=zone)))) == {"p": "n1"}


def test_where_no_node_is_in_a_zone_zones_do_not_matter() -> None:
    zone = (Requirement(ZONE, "In", ("east",)),)
    running = scheduler(place("n1"), gang("a"), pod("p", "a", "data"), claim("data", has="v"), volume("v", zones=zone))

    assert nodes_of(cycle(running)) == {"p": "n1"}


def test_a_node_has_no_name_for_a_volume_as_for_kubelets() -> None:
    by_name = (NodeTerm(fields=(Requirement("metadata.name", "In", ("n1",)),)),)

    assert told(alone(claim("data", has="v"), volume("v", terms=by_name))) == "3 volume cannot be reached"


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ((), "volume claim default/data is not there"),
        ((claim("data", has="v"),), "volume v of claim default/data is not there"),
        ((claim("data", has="v", is_lost=True),), "volume claim default/data has lost its volume v"),
        ((claim("data", terminating=True),), "volume claim default/data is being deleted"),
        ((claim("data", of="fast"),), "storage class fast of volume claim default/data is not there"),
        ((claim("data", of=""),), "volume claim default/data is not bound yet"),
        ((claim("data", of="now"), StorageClassFact(name="now")), "volume claim default/data is not bound yet"),
        ((claim("data", volume="v"), volume("v")), "volume claim default/data is not bound yet"),
    ],
)
def test_a_claim_that_is_not_ready_is_waited_for_and_no_node_is_bought(
    facts: tuple[Observation, ...], why: str
) -> None:
    running = alone(*facts)
    (verdict,) = cycle(running).verdicts

    assert verdict.pods[0].message == f"0/3 nodes are unavailable: 3 {why}."
    assert verdict.pods[0].reason == "GangWaiting"


def test_what_is_waited_for_wakes_the_gang_when_it_comes() -> None:
    running = alone(claim("data", of="now"), StorageClassFact(name="now"))
    assert nodes_of(cycle(running)) == {}
    assert nodes_of(cycle(running, now=1)) == {}

    assert nodes_of(cycle(running, claim("data", has="v"), volume("v", on="n3"), now=2)) == {"p": "n3"}


def test_a_volume_of_its_own_is_waited_for_until_it_is_made() -> None:
    assert told(alone(uses=("p-data",), own=True)) == "3 volume claim default/p-data is not made yet"


def test_and_must_have_been_made_for_this_pod() -> None:
    others, own = claim("p-data", of="made", owner="q"), claim("p-data", of="made", owner="p")

    assert told(alone(others, uses=("p-data",), own=True)) == "3 volume claim default/p-data was not made for this pod"
    assert nodes_of(cycle(alone(own, uses=("p-data",), own=True))) != {}


# ---------------------------------------------------------------- claims that wait for a pod: volumes that there are


def test_a_claim_gets_the_smallest_volume_that_will_do() -> None:
    facts = (volume("large", 9, on="n1"), volume("small", 1, on="n1"), volume("middle", 4, on="n1"))

    assert plans_of(cycle(alone(claim("data", 2), *facts))) == dict([bound_to("middle", "data")])


@pytest.mark.parametrize(
    "fields",
    [
        {"size": 0},
        {"storage_class": "other"},
        {"attributes_class": "gold"},
        {"modes": ("ReadOnlyMany",)},
        {"is_block": True},
        {"labels": {"disk": "slow"}},
        {"is_available": False},
        {"terminating": True},
        {"claim": "default/another"},
        {"claim": "default/data", "claim_uid": "an older one"},
        {"terms": (NodeTerm((Requirement("name", "In", ("n9",)),)),)},
    ],
)
def test_a_volume_of_another_sort_will_not_do(fields: dict[str, Any]) -> None:
    fast = Selector((Requirement("disk", "In", ("fast",)),))
    right = {"labels": {"disk": "fast"}}

    assert nodes_of(cycle(alone(claim("data", selector=fast), volume("v", on="n1", **right)))) == {"p": "n1"}
    running = alone(claim("data", selector=fast), volume("v", on="n1", **{**right, **fields}))
    assert told(running) == "3 no volume to bind"


def test_a_volume_that_is_kept_for_a_claim_is_the_one() -> None:
    facts = (volume("kept", 9, on="n2", claim="default/data", is_available=False), volume("small", on="n1"))
    result = cycle(alone(claim("data"), *facts))

    assert nodes_of(result) == {"p": "n2"}
    assert plans_of(result) == dict([bound_to("kept", "data")])


def test_two_claims_of_a_pod_get_a_volume_each_on_one_node() -> None:
    facts = (volume("v1", on="n1"), volume("v2a", 2, on="n2"), volume("v2b", 3, on="n2"))
    result = cycle(alone(claim("data"), claim("logs", 2), *facts, uses=("data", "logs")))

    assert nodes_of(result) == {"p": "n2"}
    assert plans_of(result) == dict([bound_to("v2a", "data"), bound_to("v2b", "logs")])


def test_two_members_never_get_the_same_volume() -> None:
    running = scheduler(
        N1,
        N2,
        LOCAL,
        claim("one"),
        claim("two"),
        volume("v1", on="n1"),
        volume("v2", on="n2"),
        gang("a", min=2),
        pod("p", "a", "one"),
        pod("q", "a", "two"),
    )
    result = cycle(running)

    assert sorted(nodes_of(result).values()) == ["n1", "n2"]
    assert {plan.volume for plan in plans_of(result).values()} == {"v1", "v2"}


def test_a_gang_that_finds_a_volume_too_few_leaves_all_to_the_next() -> None:
    book = VolumeBook()
    running = engine(
        CONF,
        N1,
        LOCAL,
        *(claim(name) for name in ("one", "two", "three")),
        volume("v1", on="n1"),
        gang("a", min=2, created=1),
        pod("a-0", "a", "one"),
        pod("a-1", "a", "two"),
        gang("b", created=2),
        pod("b-0", "b", "three"),
        books={"volume": book},
        checks=True,
    )

    assert plans_of(cycle(running)) == dict([bound_to("v1", "three")])


def test_members_that_share_a_claim_share_its_volume() -> None:
    running = scheduler(
        N1, N2, LOCAL, claim("data"), volume("v", on="n2"), gang("a", min=2), *crew("a", 2, shape=claims("data"))
    )
    result = cycle(running)

    assert set(nodes_of(result).values()) == {"n2"}
    assert plans_of(result) == dict([bound_to("v", "data")])
    assert all(effect.payloads for effect in result.effects if isinstance(effect, Bind))


def test_a_refused_bind_gives_the_volume_back_to_all() -> None:
    running = alone(claim("data"), volume("v", on="n1"))
    cycle(running)

    other = (gang("b"), pod("q", "b", "more"), claim("more"), Gone(kind="task", key="default/p"))
    result = running.cycle(CycleInput(1, other, (Refused("default/p", "p"),)))

    assert plans_of(result) == dict([bound_to("v", "more")])


def test_a_volume_stays_promised_until_the_claim_is_seen_with_it() -> None:
    running = alone(claim("data"), volume("v", on="n1"))
    cycle(running)
    rival = (gang("b"), pod("q", "b", "more"), claim("more"))

    assert nodes_of(cycle(running, *rival, now=1)) == {}
    free_again = (claim("data", has="another"), volume("another", on="n1", claim="default/data"))
    assert plans_of(cycle(running, *free_again, now=2)) == dict([bound_to("v", "more")])


# ---------------------------------------------------------------- claims that wait for a pod: volumes that can be made


def test_a_volume_is_made_where_the_pod_goes() -> None:
    result = cycle(alone(claim("data", of="made")))

    assert plans_of(result) == dict([made_at(nodes_of(result)["p"], "data")])


def test_a_volume_that_is_there_goes_before_one_that_can_be_made() -> None:
    result = cycle(alone(claim("data", of="made"), volume("v", storage_class="made")))

    assert plans_of(result) == dict([bound_to("v", "data")])


def test_volumes_are_made_only_where_their_class_allows_it() -> None:
    only_east = StorageClassFact(name="made", provisioner="ebs", waits=True, topologies=((_in("east"),),))

    assert nodes_of(cycle(alone(claim("data", of="made"), only_east))) == {"p": "n1"}
    nowhere = StorageClassFact(name="made", provisioner="ebs", waits=True, topologies=((_in("north"),),))
    assert told(alone(claim("data", of="made"), nowhere)) == "3 no volume to bind"


def _in(zone: str) -> Requirement:
    return Requirement(ZONE, "In", (zone,))


def test_a_claim_whose_volume_is_being_made_goes_there() -> None:
    assert nodes_of(cycle(alone(claim("data", of="made", selected_node="n2")))) == {"p": "n2"}


def capacity(zone: str, size: int | None, **fields: Any) -> StorageCapacityFact:
    return StorageCapacityFact(
        namespace="kube-system",
        name=zone,
        storage_class="made",
        nodes=Selector((_in(zone),)),
        capacity=None if size is None else size * GI,
        **fields,
    )


TELLS = StorageDriverFact(name="ebs", tells_capacity=True)


def test_a_driver_that_tells_its_room_must_have_enough() -> None:
    wanted = claim("data", 3, of="made")

    assert nodes_of(cycle(alone(wanted, TELLS, capacity("east", 5), capacity("west", 2)))) == {"p": "n1"}
    assert told(alone(wanted, TELLS, capacity("west", 2))) == "3 not enough room to make a volume"
    assert told(alone(wanted, TELLS, capacity("east", 5, largest=GI))) == "3 not enough room to make a volume"
    assert nodes_of(cycle(alone(wanted, StorageDriverFact(name="ebs"), capacity("west", 2)))) != {}


def test_two_members_do_not_both_count_on_the_last_of_it() -> None:
    def pair(room: int) -> dict[str, str]:
        return nodes_of(
            cycle(
                scheduler(
                    N1,
                    MADE,
                    TELLS,
                    capacity("east", room),
                    claim("one", 3, of="made"),
                    claim("two", 3, of="made"),
                    gang("a", min=2),
                    pod("p", "a", "one"),
                    pod("q", "a", "two"),
                )
            )
        )

    assert pair(5) == {}
    assert pair(6) == {"p": "n1", "q": "n1"}


def test_nor_do_two_claims_of_one_pod() -> None:
    both = (claim("one", 3, of="made"), claim("two", 3, of="made"), TELLS)

    assert told(alone(*both, capacity("east", 5), uses=("one", "two"))) == "3 not enough room to make a volume"
    assert nodes_of(cycle(alone(*both, capacity("east", 6), uses=("one", "two")))) == {"p": "n1"}


def test_a_gang_across_zones_gets_each_volume_where_its_member_goes() -> None:
    members = [task(f"p{n}", "a", cpu=5, shape=claims(f"data-{n}")) for n in range(3)]
    wants = [claim(f"data-{n}", of="made") for n in range(3)]
    result = cycle(scheduler(N1, N2, N3, MADE, gang("a", min=3), *members, *wants))

    assert sorted(nodes_of(result).values()) == ["n1", "n2", "n3"]
    assert plans_of(result) == dict(made_at(nodes_of(result)[f"p{n}"], f"data-{n}") for n in range(3))


def test_members_that_may_share_a_volume_from_several_nodes_need_not_wait_for_it() -> None:
    def pair(*modes: str) -> CycleResult:
        shared = claim("data", of="made", modes=modes)
        return cycle(scheduler(N1, N2, MADE, shared, gang("a", min=2), *crew("a", 2, cpu=5, shape=claims("data"))))

    assert nodes_of(pair("ReadWriteOnce")) == {}
    many = pair("ReadWriteMany")
    assert sorted(nodes_of(many).values()) == ["n1", "n2"]
    assert len({plan.node for plan in plans_of(many).values()}) == 1


# ---------------------------------------------------------------- many at once


def is_settled(running: Engine) -> bool:
    """Whether the claims of the first shape are asked about once for all."""
    return running.claims.settled(0) is not None


def test_members_whose_volumes_are_there_are_placed_at_once_and_go_only_where_they_are() -> None:
    facts = (claim("data", has="v"), volume("v", zone="west", claim="default/data"))
    running = scheduler(N1, N2, N3, *facts, gang("a", min=16), *crew("a", 16, shape=claims("data")))

    assert is_settled(running)
    assert set(nodes_of(cycle(running)).values()) == {"n2", "n3"}


def test_what_changes_about_a_volume_counts_for_who_comes_next() -> None:
    running = alone(claim("data", has="v"), volume("v", on="n9"))
    assert nodes_of(cycle(running)) == {}

    assert nodes_of(cycle(running, volume("v", on="n2"), now=1)) == {"p": "n2"}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((), True),
        ((claim("data", of="made"),), False),
        ((claim("data", has="v"), volume("v")), True),
        ((claim("data", has="v", modes=("ReadWriteOncePod",)), volume("v")), False),
        ((claim("data", has="v"), volume("v", driver="ebs", handle="h")), True),
        (
            (
                claim("data", has="v"),
                volume("v", driver="ebs", handle="h"),
                AttachLimitsFact(node="n1", limits=(("ebs", 1),)),
            ),
            False,
        ),
    ],
)
def test_claims_are_asked_about_one_by_one_where_it_matters_who_else_has_any(
    facts: tuple[Observation, ...], expected: bool
) -> None:
    assert is_settled(alone(*facts)) == expected


# ---------------------------------------------------------------- where not everything is told


@pytest.mark.parametrize(
    "facts",
    [
        (),
        (claim("data", of="fast"),),
        (claim("data", of=""),),
        (claim("data", has="v"),),
        (claim("data", of="now"), StorageClassFact(name="now")),
        (claim("data", of="local"),),
    ],
)
def test_who_does_not_ask_for_everything_takes_what_is_not_told_for_done(facts: tuple[Observation, ...]) -> None:
    assert nodes_of(cycle(alone(*facts, strict=False))) != {}


def test_but_heeds_what_is_told() -> None:
    assert told(alone(claim("data", has="v"), volume("v", on="n9"), strict=False)) == "3 volume cannot be reached"


def test_a_copy_of_a_book_makes_its_own_promises() -> None:
    running = alone(claim("data"), volume("v", on="n1"))

    assert nodes_of(cycle(running.fork())) == {"p": "n1"}
    assert nodes_of(cycle(running, gang("b"), pod("q", "b", "data"), now=1)) == {"p": "n1", "q": "n1"}
