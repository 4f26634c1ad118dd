"""Predicates: which nodes a pod may go to, and the sentence that says why not."""

import numpy as np
import pytest

from posse.cluster.facts import NamespaceFact, PodTerm, Port, Spread, Taint, Toleration
from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.scheduler.engine import Engine
from tests.builders import conf, cycle, engine, gang, node, task, the_task

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def app(name: str) -> Selector:
    return Selector((Requirement("app", "In", (name,)),))


def near(name: str, key: str = ZONE, **fields: object) -> PodTerm:
    return PodTerm(key, app(name), **{"namespaces": ("default",), **fields})


def in_zones(*zones: str, **fields: object) -> list:
    """A node per zone: n0, n1, ... An empty zone is none."""
    labels = [{HOST: f"n{i}", **({ZONE: zone} if zone else {})} for i, zone in enumerate(zones)]
    return [node(f"n{i}", labels=each, **fields) for i, each in enumerate(labels)]


def reasons(running: Engine, pod: str) -> dict[str, str]:
    """Why each node refuses a pod; nodes that take it have an empty reason."""
    codes = running._chooser.feasibility.codes(the_task(running, pod).row)
    return {name: running.reasons.texts[code] for name, code in zip(running.world.nodes.keys, codes, strict=True)}


def asking(*facts: object, **arguments: object) -> Engine:
    return engine(conf([{"name": "predicates", "arguments": arguments}]), *facts)


def test_each_rule_about_nodes_names_what_is_wrong() -> None:
    running = asking(
        node("cordon", unschedulable=True, labels={"pool": "a100"}, features=("x",)),
        node("other", labels={"pool": "t4", "zone": "a"}, features=("x",)),
        node("far", labels={"pool": "a100", "zone": "b"}, features=("x",)),
        node("taint", labels={"pool": "a100", "zone": "a"}, taints=(Taint("gpu", "true"),), features=("x",)),
        node("plain", labels={"pool": "a100", "zone": "a"}),
        node("small", labels={"pool": "a100", "zone": "a"}, cpu=0.5, features=("x",)),
        node("right", labels={"pool": "a100", "zone": "a"}, features=("x",)),
        task(
            "p",
            shape={
                "node_selector": (Requirement("pool", "In", ("a100",)),),
                "node_terms": (NodeTerm((Requirement("zone", "In", ("a",)),)),),
                "features": ("x",),
            },
        ),
    )
    assert reasons(running, "p") == {
        "cordon": "cordoned",
        "other": "node selector pool=a100 does not match",
        "far": "node affinity zone=a does not match",
        "taint": "untolerated taint gpu=true:NoSchedule",
        "plain": "undeclared node feature x",
        "small": "insufficient cpu",
        "right": "",
    }


def test_a_field_term_names_one_node() -> None:
    only = NodeTerm(fields=(Requirement("metadata.name", "In", ("n1",)),))
    running = asking(*in_zones("a", "a"), task("p", shape={"node_terms": (only,)}))
    assert reasons(running, "p") == {"n0": "node affinity metadata.name=n1 does not match", "n1": ""}


def test_required_terms_without_any_term_are_met_by_no_node() -> None:
    running = asking(node("n"), task("p", shape={"node_terms": ()}))
    assert reasons(running, "p") == {"n": "node affinity <nothing> does not match"}


@pytest.mark.parametrize(
    ("operator", "value", "tolerated"),
    [("Gt", "10", True), ("Gt", "20", False), ("Lt", "30", True), ("Lt", "x", False)],
)
def test_a_toleration_may_compare_numbers(operator: str, value: str, tolerated: bool) -> None:
    toleration = Toleration("risk", operator, value)
    running = asking(node("n", taints=(Taint("risk", "20"),)), task("p", shape={"tolerations": (toleration,)}))
    assert reasons(running, "p") == {"n": "" if tolerated else "untolerated taint risk=20:NoSchedule"}


def test_who_tolerates_the_cordon_goes_to_a_cordoned_node() -> None:
    bearing = Toleration("node.kubernetes.io/unschedulable", "Exists")
    running = asking(node("n", unschedulable=True), task("p", shape={"tolerations": (bearing,)}))
    assert reasons(running, "p") == {"n": ""}


def test_a_host_port_is_taken_by_the_same_protocol_on_a_common_address() -> None:
    holder = task("holder", on="n0", shape={"ports": (Port(80, "TCP", "10.0.0.1"),)})
    ports = {
        "any": Port(80),
        "same": Port(80, "TCP", "10.0.0.1"),
        "udp": Port(80, "UDP"),
        "else": Port(80, "TCP", "10.0.0.2"),
    }
    running = asking(node("n0"), holder, *(task(name, shape={"ports": (port,)}) for name, port in ports.items()))
    assert {name: reasons(running, name)["n0"] for name in ports} == {
        "any": "host port TCP 80 is taken",
        "same": "host port TCP 10.0.0.1:80 is taken",
        "udp": "",
        "else": "",
    }


def test_siblings_that_were_just_placed_hold_their_port() -> None:
    members = [task(f"w{i}", "g", shape={"ports": (Port(80),)}) for i in range(2)]
    running = engine(conf("gang", "predicates"), *in_zones("a", "a", "a"), gang("g", min=2), *members)
    effects = cycle(running).effects
    assert len({effect.node for effect in effects}) == 2


def test_a_node_full_of_pods_takes_no_other_even_if_one_of_them_leaves() -> None:
    running = asking(node("n", pods=1), task("old", on="n", terminating=True), task("p"))
    assert reasons(running, "p") == {"n": "too many pods"}


def test_affinity_wants_one_pod_that_meets_every_term() -> None:
    both = {"app": "db", "tier": "gold"}
    gold = PodTerm(ZONE, Selector((Requirement("tier", "In", ("gold",)),)), ("default",))
    running = asking(
        *in_zones("a", "b", ""),
        task("half", on="n0", labels={"app": "db"}),
        task("other-half", on="n0", labels={"tier": "gold"}),
        task("whole", on="n1", labels=both),
        task("p", shape={"near": (near("db"), gold)}),
    )
    text = f"pod affinity to app=db in topology {ZONE}"
    assert reasons(running, "p") == {"n0": text, "n1": "", "n2": f"{text}: the node has no such label"}


def test_the_first_of_its_kind_goes_anywhere_with_the_label() -> None:
    running = asking(
        *in_zones("a", ""),
        task("first", labels={"app": "db"}, shape={"near": (near("db"),)}),
        task("stranger", labels={"app": "web"}, shape={"near": (near("db"),)}),
    )
    missing = f"pod affinity to app=db in topology {ZONE}: the node has no such label"
    assert reasons(running, "first") == {"n0": "", "n1": missing}
    assert reasons(running, "stranger") == {"n0": f"pod affinity to app=db in topology {ZONE}", "n1": missing}


def test_anti_affinity_holds_from_both_sides() -> None:
    running = asking(
        *in_zones("a", "b", "c", ""),
        task("db", on="n0", labels={"app": "db"}),
        task("shy", on="n1", labels={"app": "web"}, shape={"apart": (near("train"),)}),
        task("p", labels={"app": "train"}, shape={"apart": (near("db"),)}),
    )
    assert reasons(running, "p") == {
        "n0": f"pod anti-affinity to app=db in topology {ZONE}",
        "n1": f"kept away by another's pod anti-affinity to app=train in topology {ZONE}",
        "n2": "",
        "n3": "",
    }


def test_a_namespace_selector_follows_the_labels_of_namespaces() -> None:
    team = Selector((Requirement("team", "In", ("a",)),))
    term = PodTerm(ZONE, app("db"), (), team)
    running = asking(
        *in_zones("a"),
        NamespaceFact(name="other", labels={"team": "b"}),
        task("db", on="n0", namespace="other", labels={"app": "db"}),
        task("p", shape={"apart": (term,)}),
    )
    assert reasons(running, "p") == {"n0": ""}
    running.world.observe([NamespaceFact(name="other", labels={"team": "a"})])
    assert reasons(running, "p") == {"n0": f"pod anti-affinity to app=db in topology {ZONE}"}


def test_spread_refuses_the_fuller_domain_and_nodes_without_the_key() -> None:
    spread = Spread(ZONE, 1, selector=app("web"))
    running = asking(
        *in_zones("a", "b", ""),
        task("one", on="n0", labels={"app": "web"}),
        task("leaving", on="n1", labels={"app": "web"}, terminating=True),
        task("p", labels={"app": "web"}, shape={"spread": (spread,)}),
    )
    assert reasons(running, "p") == {
        "n0": f"topology spread over {ZONE}: skew would exceed 1",
        "n1": "",
        "n2": f"topology spread over {ZONE}: the node has no such label",
    }


def test_spread_counts_a_missing_domain_as_empty() -> None:
    spread = Spread(ZONE, 1, selector=app("web"), min_domains=2)
    running = asking(
        *in_zones("a"),
        task("one", on="n0", labels={"app": "web"}),
        task("p", labels={"app": "web"}, shape={"spread": (spread,)}),
    )
    assert reasons(running, "p") == {"n0": f"topology spread over {ZONE}: skew would exceed 1"}


@pytest.mark.parametrize(("policy", "refused"), [({}, False), ({"honor_taints": True}, True)])
def test_spread_counts_tainted_nodes_unless_told_otherwise(policy: dict[str, bool], refused: bool) -> None:
    """The empty tainted zone is the emptiest one as long as it counts."""
    spread = Spread(ZONE, 1, selector=app("web"), **policy)
    tainted = node("n1", labels={ZONE: "b"}, taints=(Taint("gpu"),))
    running = asking(
        *in_zones("a"),
        tainted,
        task("one", on="n0", labels={"app": "web"}),
        task("p", labels={"app": "web"}, shape={"spread": (spread,)}),
    )
    assert (reasons(running, "p")["n0"] == "") is refused


@pytest.mark.parametrize(("honored", "refused"), [(True, False), (False, True)])
def test_spread_counts_only_nodes_the_pod_may_go_to_unless_told_otherwise(honored: bool, refused: bool) -> None:
    spread = Spread(ZONE, 1, selector=app("web"), honor_affinity=honored)
    running = asking(
        *in_zones("a", "b"),
        task("one", on="n0", labels={"app": "web"}),
        task(
            "p", labels={"app": "web"}, shape={"spread": (spread,), "node_selector": (Requirement(ZONE, "In", ("a",)),)}
        ),
    )
    assert (reasons(running, "p")["n0"] != "") is refused


@pytest.mark.parametrize(
    ("switch", "shape"),
    [
        ("predicate.NodeAffinityEnable", {"node_selector": (Requirement("pool", "Exists"),)}),
        ("predicate.NodePortsEnable", {"ports": (Port(80),)}),
        ("predicate.PodAffinityEnable", {"near": (near("db"),)}),
        ("predicate.PodTopologySpreadEnable", {"spread": (Spread(ZONE, 1, selector=app("web")),)}),
    ],
)
def test_a_rule_can_be_switched_off(switch: str, shape: dict[str, object]) -> None:
    facts = [node("n"), task("holder", on="n", shape={"ports": (Port(80),)}), task("p", shape=shape)]
    assert reasons(asking(*facts), "p")["n"]
    assert reasons(asking(*facts, **{switch: False}), "p") == {"n": ""}


def test_taints_can_be_switched_off() -> None:
    facts = [node("n", taints=(Taint("gpu"),)), task("p")]
    assert reasons(asking(*facts), "p") == {"n": "untolerated taint gpu:NoSchedule"}
    assert reasons(asking(*facts, **{"predicate.TaintTolerationEnable": False}), "p") == {"n": ""}


def test_clauses_ask_each_requirement_by_itself() -> None:
    running = asking(
        node("n0", gpu=8, labels={ZONE: "a"}, taints=(Taint("gpu", "true"),)),
        node("n1", gpu=0, labels={ZONE: "b", "pool": "a100"}),
        task("db", on="n1", labels={"app": "db"}, shape={"ports": (Port(80),)}),
        task(
            "p",
            cpu=0.5,
            memory=2,
            gpu=8,
            labels={"app": "web"},
            shape={
                "node_selector": (Requirement("pool", "In", ("a100",)),),
                "ports": (Port(80),),
                "apart": (near("db"),),
                "spread": (Spread(ZONE, 1, selector=app("db")),),
            },
        ),
    )
    (plugin,) = running.tiers.plugins
    passes = {clause.text: clause.passes.tolist() for clause in plugin.clauses(the_task(running, "p"))}
    assert passes == {
        "not cordoned": [True, True],
        "nodeSelector pool=a100": [False, True],
        "taints": [False, True],
        "cpu 500m": [True, True],
        "memory 2Gi": [True, True],
        "nvidia.com/gpu 8": [True, False],
        "pods 1": [True, True],
        "host port TCP 80": [True, False],
        f"pod anti-affinity to app=db in topology {ZONE}": [True, False],
        f"topology spread over {ZONE}": [True, True],
    }


def test_live_rules_concern_only_those_they_could_refuse() -> None:
    """So that gangs nobody minds are placed by the kernel, which knows nothing of neighbours."""
    running = asking(
        *in_zones("a"),
        task("shy", on="n0", shape={"apart": (near("train"),)}),
        task("minded", labels={"app": "train"}),
        task("unminded", labels={"app": "web"}),
    )
    concerned = {}
    for name in ("minded", "unminded"):
        row = the_task(running, name)
        concerned[name] = bool(running._chooser.feasibility.live(row.shape_row, np.array([row.row], np.int32)))
    assert concerned == {"minded": True, "unminded": False}
