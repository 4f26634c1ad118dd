"""Which sub-gang a member falls into."""

import pytest
from msgspec import structs

from posse.cluster.facts import GangFact, Rules, SubgroupPolicy
from posse.cluster.selectors import Requirement, Selector
from posse.cluster.subgroups import REST, SubGang, subgang_of
from posse.cluster.world import World
from tests.builders import gang, queue, task, the_gang

REPLICAS = SubgroupPolicy(name="replica", size=2, min_groups=1, match_keys=("model", "replica"))
LEADERS = SubgroupPolicy(name="leader", selector=Selector((Requirement("kind", "In", ("leader",)),)))
BOTH = gang("g", subgroups=(LEADERS, REPLICAS))


def falls_into(labels: dict[str, str], of: GangFact = BOTH) -> SubGang:
    return subgang_of(of, task("p", "g", labels=labels))


def test_equal_values_of_the_keys_make_one_sub_gang() -> None:
    assert falls_into({"model": "m", "replica": "1", "x": "y"}) == SubGang("replica", ("m", "1"), 2)


@pytest.mark.parametrize("labels", [{}, {"model": "m"}, {"model": "m", "replica": ""}])
def test_whoever_lacks_a_value_is_in_the_rest(labels: dict[str, str]) -> None:
    assert falls_into(labels) == REST


def test_the_first_policy_that_is_for_a_member_takes_it() -> None:
    assert falls_into({"kind": "leader", "model": "m", "replica": "1"}).policy == "leader"


def test_a_policy_with_a_selector_alone_is_one_sub_gang_unless_the_rules_say_that_it_is_none() -> None:
    strict = structs.replace(BOTH, rules=Rules(selector_alone_groups=False))

    assert falls_into({"kind": "leader"}) == SubGang("leader", (), 1)
    assert falls_into({"kind": "leader"}, strict) == REST


def test_a_policy_that_asks_for_nothing_is_for_nobody() -> None:
    assert falls_into({"a": "b"}, gang("g", subgroups=(SubgroupPolicy(name="all"),))) == REST


@pytest.mark.parametrize(
    ("values", "index"), [((), 0), (("7", "x"), 7), (("-2",), -2), (("+3",), 3), (("seven",), 0), (("²",), 0)]
)
def test_sub_gangs_are_numbered_by_their_first_value(values: tuple[str, ...], index: int) -> None:
    assert SubGang("replica", values).index == index


def test_people_call_it_by_policy_and_values() -> None:
    assert (SubGang("replica", ("m", "1")).name, REST.name) == ("replica-m-1", "rest")


def test_a_gang_lists_the_sub_gangs_that_have_members_in_order() -> None:
    world = World()
    members = [task(f"p{number}", "g", labels={"model": "m", "replica": str(number % 3)}) for number in range(5)]
    world.observe([queue("default"), BOTH, *members, task("lead", "g", labels={"kind": "leader"}), task("p2", "g")])

    assert [(each.subgang.name, each.size) for each in the_gang(world, "g").subgangs] == [
        ("rest", 1),
        ("leader", 1),
        ("replica-m-0", 2),
        ("replica-m-1", 2),
    ]
