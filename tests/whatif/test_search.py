"""The search: counted, in line order, the same every time; and what is known of the line and of the future."""

from posse.errors import Place
from posse.kube.manifests import from_values
from posse.simulation.explaining import explanation_of
from posse.simulation.run import Run
from posse.simulation.scenario import Options, Scenario
from posse.whatif.search import Allowance, Search
from tests.whatif.pictures import explained, gang, group, node, pod, run

CROWDED = [node("n1"), *gang("first", 2, 2, cpu=3), *gang("second", 2, 2, cpu=3), *gang("third", 2, 2, cpu=3)]


def test_the_summary_says_what_is_lacking_in_numbers():
    explanation = explained("a", [node("n1"), node("n2"), *gang("a", 3, 3, cpu=3)])

    assert explanation["summary"] == "waits for 1 more node like n1 (4 cpu, 32Gi memory): 2 of 3 pods fit"


def test_the_same_input_is_explained_the_same_in_any_order():
    assert run(CROWDED)["gangs"] == run(CROWDED[::-1])["gangs"]


def test_without_an_allowance_nothing_is_tried_and_that_is_said():
    explanation = explained("first", CROWDED, what_if_runs=0)

    assert explanation["searched"] == "cut"
    assert explanation["remedies"] == []
    assert explanation["blockers"]
    assert explanation["summary"].endswith("the search for what would help was cut short")


def test_the_allowance_goes_to_who_is_first_in_line():
    searched = {
        name: record["explanation"]["searched"] for name, record in run(CROWDED, what_if_runs=6)["gangs"].items()
    }

    assert searched == {"default/first": "complete", "default/second": "cut", "default/third": "cut"}


def test_who_asks_about_a_gang_that_has_its_minimum_hears_what_the_next_member_waits_for():
    objects = [node("n1", cpu=2), *gang("a", 1, 4), *gang("b", 1, 1)]
    in_passing = explained("a", objects)
    asked = of_one("a", objects)

    assert in_passing["summary"] == "has its minimum: 2 of 4 pods have a node, 1 is needed, 2 more wait"
    assert in_passing["blockers"]
    assert asked["blockers"][0]["kind"] == "nodes"
    assert (asked["blockers"][0]["have"], asked["blockers"][0]["need"]) == (2, 3)
    assert in_passing["position"] == asked["position"] == {"queue": 1, "of": 2}
    assert asked["state"] == "running"
    assert asked["summary"].endswith("; the next waits for 1 more node like n1 (2 cpu, 32Gi memory)")


def test_one_member_more_takes_what_those_ahead_leave():
    """The gang that waits takes the first new node, and the member that is not needed the second."""
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 9}
    ahead = [group("b", 1, priorityClassName="urgent"), pod("b-0", of="b", cpu=4, priorityClassName="urgent")]
    objects = [node("n1"), pod("x", on="n1"), urgent, *gang("a", 1, 2, cpu=3), *ahead]

    found = of_one("a", objects)["remedies"]

    assert [len(each["patch"]) for each in found if each["action"] == "add-nodes"] == [2]


def of_one(name, objects):
    """The explanation of one gang that is asked about."""
    run = Run(Scenario(tuple(from_values(objects, Place())), options=Options()))
    run.to_the_end()
    return explanation_of(run, f"default/{name}")(f"default/{name}")


def test_everybody_knows_his_place_in_line():
    gangs = run(CROWDED)["gangs"]

    assert gangs["default/second"]["explanation"]["position"] == {"queue": 2, "of": 3}


def test_declared_run_times_say_when_it_will_start():
    objects = [node("n1"), pod("short", cpu=4, on="n1", notes={"posse.dev/run-time": "10m"}), *gang("a", 1, 1, cpu=3)]

    explanation = explained("a", objects, cycles=2)

    assert explanation["estimate"] == {"start": "2026-01-01T00:10:00Z", "basis": "declared run times"}


def test_a_trial_does_not_wait_for_the_declared_ends():
    objects = [node("n1"), pod("short", cpu=4, on="n1", notes={"posse.dev/run-time": "3s"}), *gang("a", 1, 1, cpu=3)]

    remedies = explained("a", objects, cycles=2)["remedies"]

    assert [each["action"] for each in remedies] == ["add-nodes", "free-resources"]


def test_who_was_bound_in_the_last_cycle_counts_for_the_estimate():
    first = gang("first", 1, 1, cpu=4, notes={"posse.dev/run-time": "10m"})
    first[0]["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z"
    second = gang("second", 1, 1, cpu=3)
    second[0]["metadata"]["creationTimestamp"] = "2025-06-01T00:00:00Z"

    estimates = [explained("second", [node("n1"), *first, *second], cycles=count)["estimate"] for count in (1, 2)]

    assert estimates == [{"start": "2026-01-01T00:10:01Z", "basis": "declared run times"}] * 2


def test_where_nothing_is_known_to_end_nothing_is_estimated():
    assert explained("first", CROWDED)["estimate"] == {"start": None, "basis": "none"}


class Counting(Search):
    """A search in which a number works from `enough` on."""

    def __init__(self, enough: int) -> None:
        self.enough, self._allowance, self.asked = enough, Allowance(1000), []

    def works(self, change: int) -> bool:
        self.asked.append(change)
        return change >= self.enough


def test_a_right_proposal_takes_two_trials():
    search = Counting(7)

    assert search.least(lambda n: n, 7, 56) == 7
    assert search.asked == [7, 6]


def test_the_least_is_found_from_any_proposal_and_proven():
    for enough in range(1, 40):
        for proposal in range(1, 40):
            search = Counting(enough)

            assert search.least(lambda n: n, proposal, 40) == enough
            assert enough in search.asked
            assert enough == 1 or enough - 1 in search.asked


def test_what_never_works_is_given_up_after_two_trials():
    search = Counting(1000)

    assert search.least(lambda n: n, 3, 24) is None
    assert search.asked == [3, 24]
