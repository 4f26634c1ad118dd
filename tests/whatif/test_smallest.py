"""The smallest number of nodes: fewer do not do, though one more may be one too many."""

import random

import pytest

from posse.whatif.search import FEW, Allowance, Search
from tests.whatif.pictures import daemon_set, explained, gang, node, pod, run

URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 100}


def urgent(name, minimum, members, **fields):
    made = gang(name, minimum, members, priorityClassName="urgent", **fields)
    made[0]["spec"]["priorityClassName"] = "urgent"
    return made


def starts_with(name, objects, new):
    """Whether a gang has started ten cycles after new nodes came to where all had come to rest."""
    before = run(objects, what_if_runs=0)["cycles"]
    steps = [{"after_cycle": before, "apply": new}]
    record = run(objects, steps=steps, cycles=before + 10, what_if_runs=0)["gangs"][f"default/{name}"]
    return record["ready"] >= record["min"]


def added(name, objects):
    """The nodes that a gang is told to add."""
    found = [each for each in explained(name, objects)["remedies"] if each["action"] == "add-nodes"]
    return found[0]["patch"] if found else []


def test_one_node_is_enough_while_those_ahead_need_many():
    objects = [URGENT, node("n1"), pod("full", cpu=4, on="n1"), *urgent("big", 9, 9, cpu=4), *gang("a", 1, 1, cpu=4)]

    assert len(added("a", objects)) == 1


def test_one_node_is_enough_where_nine_would_never_be():
    """The gang ahead takes its minimum of nine and whatever comes after."""
    full = pod("full", cpu=4, on="n1", priorityClassName="urgent")
    objects = [URGENT, node("n1"), full, *urgent("big", 9, 200, cpu=4), *gang("a", 1, 1, cpu=4)]

    assert len(added("a", objects)) == 1


def test_numbers_that_counting_rules_out_are_not_tried():
    objects = [node("n1"), *gang("a", 20, 20, cpu=4)]

    assert len(explained("a", objects, what_if_runs=3)["remedies"][0]["patch"]) == 19


def test_nodes_are_of_no_use_to_members_that_are_gated():
    gated = gang("a", 8, 8, cpu=3, schedulingGates=[{"name": "example.com/ready"}])

    explanation = explained("a", [node("n1"), *gated], what_if_runs=3)

    assert (explanation["searched"], explanation["remedies"]) == ("complete", [])


def test_who_leaves_numbers_out_does_not_claim_to_have_searched_all():
    """Nobody may be in one room with the pod that is there, and all nodes are in that room."""
    term = {"topologyKey": "room", "labelSelector": {"matchLabels": {"app": "x"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    there = pod("x", cpu=4, on="n1", priority=1000)
    there["metadata"]["labels"] = {"app": "x"}
    objects = [node("n1", labels={"room": "one"}), there, *gang("a", 3, 3, cpu=3, affinity=apart)]

    explanation = explained("a", objects)

    assert (explanation["searched"], explanation["remedies"]) == ("cut", [])


def test_nodes_help_who_must_be_with_those_ahead():
    """The gang must be in one room with another, which waits for a node too."""
    term = {"topologyKey": "room", "labelSelector": {"matchLabels": {"app": "x"}}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    ahead = urgent("ahead", 1, 1, cpu=3)
    ahead[1]["metadata"]["labels"] = {"app": "x"}
    full = pod("full", cpu=4, on="n1", priority=1000)
    objects = [URGENT, node("n1", labels={"room": "one"}), full, *ahead, *gang("a", 1, 1, cpu=3, affinity=near)]

    assert len(added("a", objects)) == 2


def _world(seed):
    """A small cluster that is too small for some of its gangs."""
    lots = random.Random(seed)
    objects = [URGENT, *(node(f"n{number + 1}", cpu=lots.choice([2, 4])) for number in range(lots.randint(1, 2)))]
    if lots.random() < 0.4:
        objects.append(daemon_set(lots.choice(["agent", "z-agent"])))
    for number in range(lots.randint(2, 4)):
        minimum = lots.randint(1, 4)
        kind = urgent if lots.random() < 0.4 else gang
        objects += kind(f"g{number}", minimum, minimum + lots.choice([0, 0, 3]), cpu=lots.choice([1, 2, 2, 3]))
    return objects


@pytest.mark.parametrize("seed", range(16))
def test_fewer_nodes_do_not_start_the_gang(seed):
    objects = _world(seed)
    waiting = [name for name, record in run(objects)["gangs"].items() if record["explanation"]["state"] == "waiting"]
    for key in waiting:
        name = key.partition("/")[2]
        nodes = added(name, objects)
        outcomes = [starts_with(name, objects, nodes[:count]) for count in range(1, len(nodes) + 1)]

        assert not nodes or outcomes == [False] * (len(nodes) - 1) + [True]


class Odd(Search):
    """A search in which only some numbers work."""

    def __init__(self, *good):
        self.good, self._allowance, self.asked, self.left_out = good, Allowance(1000), [], False

    def works(self, change):
        self.asked.append(change)
        return change in self.good


def test_the_first_few_are_tried_one_by_one():
    search = Odd(3, 5, 6, 7, 40)

    assert (search.smallest(lambda n: n, 1, 5, 40), search.asked) == (3, [1, 2, 3])


def test_beyond_the_first_few_the_border_is_sought():
    search = Odd(*range(30, 100))

    assert (search.smallest(lambda n: n, 1, 30, 240), search.asked) == (30, [*range(1, FEW + 1), 30, 29])


def test_what_counting_rules_out_is_proven_not_to_do():
    search = Odd(*range(30, 100))

    assert (search.smallest(lambda n: n, 30, 30, 240), search.asked) == (30, [30, 29])


def test_counting_is_not_believed_against_the_proof():
    assert Odd(*range(20, 100)).smallest(lambda n: n, 30, 30, 240) == 20


def test_the_rest_is_tried_if_it_is_little():
    search = Odd(13)

    assert search.smallest(lambda n: n, 1, 2, 16) == 13
    assert not search.left_out


def test_what_is_left_out_is_known():
    search = Odd()

    assert search.smallest(lambda n: n, 1, 3, 24) is None
    assert search.left_out
    assert search.asked == [*range(1, FEW + 1), 24]


def test_what_was_all_tried_is_known_not_to_do():
    search = Odd()

    assert search.smallest(lambda n: n, 1, 2, 16) is None
    assert not search.left_out
    assert sorted(search.asked) == list(range(1, 17))
