"""Node order: which node is best, and why."""

import numpy as np
import pytest

from posse.cluster.facts import Image, PodTerm, PreferredNodes, Spread, Taint, Toleration
from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.scheduler.engine import Engine
from tests.builders import binds, conf, engine, gang, node, task, the_task

ZONE = "topology.kubernetes.io/zone"
MEBI = 2**20
WEIGHTS = (
    "leastrequested",
    "mostrequested",
    "balancedresource",
    "nodeaffinity",
    "podaffinity",
    "tainttoleration",
    "imagelocality",
    "podtopologyspread",
)


def only(weight: str) -> str:
    """A configuration in which one score counts, once."""
    return conf(
        "gang", [{"name": "nodeorder", "arguments": {f"{each}.weight": int(each == weight) for each in WEIGHTS}}]
    )


def points(running: Engine, pod: str) -> list[float]:
    """The points of each node, all of them being candidates."""
    rows = np.arange(len(running.world.nodes))
    found: list[float] = running._chooser.scoring.points(the_task(running, pod).row, rows).tolist()
    return found


def app(name: str) -> Selector:
    return Selector((Requirement("app", "In", (name,)),))


def in_zones(*zones: str) -> list:
    return [node(f"n{i}", labels={ZONE: zone}) for i, zone in enumerate(zones)]


def test_free_nodes_come_first_unless_full_ones_shall() -> None:
    facts = [node("free"), node("busy"), task("other", on="busy", cpu=4), gang("g"), task("p", "g")]
    assert binds(engine(only("leastrequested"), *facts)) == {"p": "free"}
    assert binds(engine(only("mostrequested"), *facts)) == {"p": "busy"}


def test_pods_without_requests_spread_too() -> None:
    running = engine(only("leastrequested"), node("n0"), node("n1"), task("idle", on="n0", cpu=0), task("p", cpu=0))
    assert points(running, "p") == [97.0, 98.0]


def test_balance_looks_at_gpus_only_if_the_pod_wants_one() -> None:
    facts = [node("gpus", cpu=4, memory=4, gpu=1), node("plain", cpu=4, memory=4)]
    asks = [task("with", cpu=2, memory=2, gpu=1), task("without", cpu=2, memory=2), task("nothing", cpu=0)]
    running = engine(only("balancedresource"), *facts, *asks)
    assert points(running, "without") == [100.0, 100.0]
    assert points(running, "with") == [76.0, 100.0]
    assert points(running, "nothing") == [0.0, 0.0]


def test_preferred_nodes_are_measured_against_the_most_preferred() -> None:
    liked = [
        PreferredNodes(weight, NodeTerm((Requirement(ZONE, "In", (zone,)),))) for weight, zone in ((30, "a"), (60, "b"))
    ]
    running = engine(only("nodeaffinity"), *in_zones("a", "b", "c"), task("p", shape={"preferred_nodes": tuple(liked)}))
    assert points(running, "p") == [50.0, 100.0, 0.0]


def test_discouraging_taints_count_unless_they_are_tolerated() -> None:
    spot, old = Taint("spot", "", "PreferNoSchedule"), Taint("old", "", "PreferNoSchedule")
    bearing = Toleration("old", "Exists", "", "PreferNoSchedule")
    running = engine(
        only("tainttoleration"),
        node("both", taints=(spot, old)),
        node("one", taints=(old,)),
        node("none"),
        task("p"),
        task("bears", shape={"tolerations": (bearing,)}),
    )
    assert points(running, "p") == [0.0, 50.0, 100.0]
    assert points(running, "bears") == [0.0, 100.0, 100.0]


def test_a_toleration_of_another_effect_does_not_help() -> None:
    spot = Taint("spot", "", "PreferNoSchedule")
    running = engine(
        only("tainttoleration"),
        node("spot", taints=(spot,)),
        node("none"),
        task("p", shape={"tolerations": (Toleration("spot", "Exists", "", "NoSchedule"),)}),
    )
    assert points(running, "p") == [0.0, 100.0]


def test_large_images_that_many_nodes_have_count_most() -> None:
    common, rare = Image(("base:1", "base@x"), 600 * MEBI), Image(("train:2",), 600 * MEBI)
    running = engine(
        only("imagelocality"),
        node("both", images=(common, rare)),
        node("one", images=(common,)),
        node("none"),
        task("p", shape={"images": ("base:1", "train:2")}),
        task("q", shape={"images": ("base@x",)}),
    )
    assert points(running, "p") == [29.0, 19.0, 0.0]
    assert points(running, "q") == [38.0, 38.0, 0.0]
    running.world.observe([node("one")])
    assert points(running, "q") == [18.0, 0.0, 0.0]


@pytest.mark.parametrize(("field", "wanted"), [("preferred_near", [100.0, 0.0]), ("preferred_apart", [0.0, 100.0])])
def test_preferences_about_pods_hold_from_both_sides(field: str, wanted: list[float]) -> None:
    term = PodTerm(ZONE, app("db"), ("default",), weight=10)
    db = task("db", on="n0", labels={"app": "db"})
    running = engine(only("podaffinity"), *in_zones("a", "b"), db, task("p", shape={field: (term,)}))
    assert points(running, "p") == wanted
    friend = task("friend", on="n0", shape={field: (term,)})
    running = engine(only("podaffinity"), *in_zones("a", "b"), friend, task("p", labels={"app": "db"}))
    assert points(running, "p") == wanted


def test_a_term_that_is_named_twice_counts_twice() -> None:
    to_db, to_web = (PodTerm(ZONE, app(name), ("default",), weight=10) for name in ("db", "web"))
    running = engine(
        only("podaffinity"),
        *in_zones("a", "b", "c"),
        task("twice", on="n0", shape={"preferred_near": (to_db, to_db)}),
        task("once", on="n1", shape={"preferred_near": (to_db, to_web)}),
        task("p", labels={"app": "db"}),
    )
    assert points(running, "p") == [100.0, 50.0, 0.0]


def test_soft_spread_prefers_the_emptier_domain_and_ignores_nodes_without_the_key() -> None:
    spread = Spread(ZONE, 1, hard=False, selector=app("web"))
    running = engine(
        only("podtopologyspread"),
        *in_zones("a", "b"),
        node("bare"),
        *(task(f"web-{i}", on="n0", labels={"app": "web"}) for i in range(3)),
        task("web-3", on="n1", labels={"app": "web"}),
        task("p", labels={"app": "web"}, shape={"spread": (spread,)}),
    )
    assert points(running, "p") == [25.0, 100.0, 0.0]
