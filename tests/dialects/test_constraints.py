"""Where a pod may go: its spec as the parts of a shape."""

import pytest

from posse.cluster.facts import ClaimReference, PodTerm, Port, PreferredNodes, Spread, Toleration
from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.dialects.pods import shape_of
from posse.errors import InputError
from tests.kube.builders import container, pod

HOST = "kubernetes.io/hostname"


def requires(*terms: dict[str, object]) -> dict[str, object]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def near(*, kind: str = "podAffinity", **term: object) -> dict[str, object]:
    whole = {"topologyKey": HOST, **term}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [whole]}}


def expression(key: str, operator: str, *values: str) -> dict[str, object]:
    return {"key": key, "operator": operator, "values": list(values)}


def test_a_node_selector_demands_each_label_in_order_of_keys() -> None:
    shape = shape_of(pod(nodeSelector={"zone": "a", "disk": "ssd"}))

    assert shape.node_selector == (Requirement("disk", "In", ("ssd",)), Requirement("zone", "In", ("a",)))


def test_node_terms_hold_expressions_and_the_name_field() -> None:
    term = {
        "matchExpressions": [expression("zone", "NotIn", "b", "a"), expression("cores", "Gt", "8")],
        "matchFields": [expression("metadata.name", "In", "n1")],
    }
    shape = shape_of(pod(affinity=requires(term)))

    expressions = (Requirement("cores", "Gt", ("8",)), Requirement("zone", "NotIn", ("a", "b")))
    assert shape.node_terms == (NodeTerm(expressions, (Requirement("metadata.name", "In", ("n1",)),)),)


def test_no_affinity_and_an_affinity_that_nothing_meets_are_not_the_same() -> None:
    assert (shape_of(pod()).node_terms, shape_of(pod(affinity=requires())).node_terms) == (None, ())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (expression("a", "Near", "b"), "unknown operator 'Near'"),
        (expression("a", "In"), "cannot have the values"),
        (expression("a", "Exists", "b"), "cannot have the values"),
        (expression("a", "Gt", "many"), "cannot have the values"),
        (expression("a", "Lt", "1", "2"), "cannot have the values"),
    ],
)
def test_an_expression_that_makes_no_sense_is_refused(bad: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        shape_of(pod(affinity=requires({"matchExpressions": [bad]})))

    assert (caught.value.place.object, caught.value.place.field) == ("Pod default/p", "spec.affinity.nodeAffinity")


def test_only_the_name_of_a_node_can_be_selected_as_a_field() -> None:
    with pytest.raises(InputError, match=r"accepted: metadata\.name"):
        shape_of(pod(affinity=requires({"matchFields": [expression("spec.unschedulable", "In", "true")]})))


def test_preferred_nodes_keep_their_weights() -> None:
    preferred = [{"weight": 7, "preference": {"matchExpressions": [expression("disk", "Exists")]}}]
    shape = shape_of(pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}))

    assert shape.preferred_nodes == (PreferredNodes(7, NodeTerm((Requirement("disk", "Exists"),))),)


def test_pods_to_be_near_are_of_the_own_namespace_unless_it_says_others() -> None:
    own = shape_of(pod(namespace="mine", affinity=near(labelSelector={"matchLabels": {"app": "db"}})))
    named = shape_of(pod(affinity=near(namespaces=["b", "a"], labelSelector={})))

    assert own.near == (PodTerm(HOST, Selector((Requirement("app", "In", ("db",)),)), ("mine",)),)
    assert named.near == (PodTerm(HOST, Selector(), ("a", "b")),)


def test_a_namespace_selector_takes_the_place_of_the_own_namespace() -> None:
    shape = shape_of(pod(affinity=near(labelSelector={}, namespaceSelector={"matchLabels": {"team": "x"}})))

    wanted = PodTerm(HOST, Selector(), (), Selector((Requirement("team", "In", ("x",)),)))
    assert shape.near == (wanted,)


def test_an_absent_selector_selects_no_pod_and_an_empty_one_every_pod() -> None:
    shape = shape_of(pod(affinity=near(kind="podAntiAffinity")))

    assert shape.apart[0].selector is None


def test_label_keys_are_resolved_with_the_labels_of_the_pod() -> None:
    term = near(labelSelector={"matchLabels": {"app": "web"}}, matchLabelKeys=["rev", "no"], mismatchLabelKeys=["team"])
    shape = shape_of(pod(metadata={"labels": {"rev": "7", "team": "x"}}, affinity=term))

    assert shape.near[0].selector == Selector(
        (Requirement("app", "In", ("web",)), Requirement("rev", "In", ("7",)), Requirement("team", "NotIn", ("x",)))
    )


def test_label_keys_that_an_api_server_has_resolved_already_count_once() -> None:
    merged = {"matchLabels": {"app": "web"}, "matchExpressions": [expression("rev", "In", "7")]}
    labels = {"labels": {"rev": "7"}}
    before = near(labelSelector={"matchLabels": {"app": "web"}}, matchLabelKeys=["rev"])
    after = near(labelSelector=merged, matchLabelKeys=["rev"])

    assert shape_of(pod(metadata=labels, affinity=before)) == shape_of(pod(metadata=labels, affinity=after))


def test_welcome_pods_keep_their_weights() -> None:
    welcome = [{"weight": 3, "podAffinityTerm": {"topologyKey": HOST, "labelSelector": {}}}]
    affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": welcome}}

    assert shape_of(pod(affinity=affinity)).preferred_apart == (PodTerm(HOST, Selector(), ("default",), weight=3),)


def test_spread_has_kubernetes_defaults() -> None:
    constraint = {"topologyKey": HOST, "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}

    assert shape_of(pod(topologySpreadConstraints=[constraint])).spread == (Spread(HOST, 2, False, Selector()),)


def test_spread_resolves_label_keys_and_reads_its_policies() -> None:
    constraint = {
        "topologyKey": HOST,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["rev"],
        "minDomains": 3,
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
    }
    shape = shape_of(pod(metadata={"labels": {"rev": "7"}}, topologySpreadConstraints=[constraint]))

    assert shape.spread == (Spread(HOST, 1, True, Selector((Requirement("rev", "In", ("7",)),)), 3, False, True),)


def test_a_toleration_without_operator_compares_and_a_repeated_one_counts_once() -> None:
    bears = [{"key": "gpu", "value": "yes"}, {"operator": "Exists"}, {"key": "gpu", "value": "yes"}]

    assert shape_of(pod(tolerations=bears)).tolerations == (Toleration("gpu", "Equal", "yes"), Toleration("", "Exists"))


def test_host_ports_are_those_of_containers_and_sidecars() -> None:
    shape = shape_of(
        pod(
            containers=[container(ports=[{"containerPort": 80}, {"containerPort": 81, "hostPort": 9000}])],
            initContainers=[
                container(ports=[{"containerPort": 82, "hostPort": 9001}]),
                container(ports=[{"containerPort": 83, "hostPort": 8000, "protocol": "UDP"}], restartPolicy="Always"),
            ],
        )
    )

    assert shape.ports == (Port(8000, "UDP"), Port(9000))


def test_on_the_hosts_network_every_port_is_a_host_port() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 80, "hostIP": "10.0.0.1"}]

    assert shape_of(pod(hostNetwork=True, containers=[container(ports=ports)])).ports == (
        Port(80),
        Port(80, "TCP", "10.0.0.1"),
    )


def test_images_without_a_tag_mean_latest_and_each_container_counts() -> None:
    spec = {"containers": [container(image=name) for name in ("b", "reg:5000/a", "c:1")]}

    assert shape_of(pod(**spec)).images == ("b:latest", "c:1", "reg:5000/a:latest")


def test_claims_are_named_by_what_keeps_them() -> None:
    shape = shape_of(
        pod(
            volumes=[
                {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "scratch", "ephemeral": {}},
                {"name": "conf", "configMap": {"name": "x"}},
            ],
            resourceClaims=[
                {"name": "one", "resourceClaimName": "gpu"},
                {"name": "two", "resourceClaimTemplateName": "nic"},
                {"name": "three", "resourceClaimTemplateName": "nic"},
            ],
            status={"resourceClaimStatuses": [{"name": "three", "resourceClaimName": "p-three-x"}]},
        )
    )

    assert shape.claims == (
        ClaimReference("device", "default/gpu"),
        ClaimReference("device", "default/p-three-x"),
        ClaimReference("device-template", "default/nic"),
        ClaimReference("volume", "default/data"),
        ClaimReference("volume", "default/p-scratch", is_own=True),
    )


def test_a_container_that_may_restart_all_others_needs_a_node_that_can() -> None:
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]

    assert shape_of(pod(containers=[container(restartPolicyRules=rules)])).features == (
        "RestartAllContainersOnContainerExits",
    )


def test_pods_that_differ_in_nothing_that_matters_share_a_shape() -> None:
    one = pod("a", metadata={"labels": {"index": "1"}}, nodeName="n", status={"phase": "Running"})

    assert shape_of(one) == shape_of(pod("b"))
    assert hash(shape_of(one)) == hash(shape_of(pod("b")))
