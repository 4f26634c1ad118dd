"""What the scheduler may do is on this list, and each right on it has its reason. Who needs another adds it here."""

from itertools import product

from tests.deploy.helm import Helm, Manifest

READS = {"list", "watch"}
MAY = {
    ("", "pods"): {*READS, "get"},  # one is asked for by name if nobody knows what became of its binding
    ("", "nodes"): {*READS, "get"},  # whether one reaches a volume that was made elsewhere
    ("", "namespaces"): READS,
    ("", "resourcequotas"): READS,
    ("", "persistentvolumes"): {*READS, "get", "patch"},  # one is kept for a claim, and looked at until it is bound
    ("", "persistentvolumeclaims"): {*READS, "get", "patch"},  # one says at which node its volume is to be made
    ("storage.k8s.io", "storageclasses"): READS,
    ("storage.k8s.io", "csidrivers"): READS,
    ("storage.k8s.io", "csinodes"): READS,
    ("storage.k8s.io", "csistoragecapacities"): READS,
    ("policy", "poddisruptionbudgets"): READS,
    ("scheduling.k8s.io", "priorityclasses"): READS,
    ("scheduling.volcano.sh", "queues"): READS,
    ("scheduling.volcano.sh", "queues/status"): {"patch"},
    ("scheduling.volcano.sh", "podgroups"): {*READS, "patch"},
    ("scheduling.volcano.sh", "podgroups/status"): {"patch"},
    ("", "pods/binding"): {"create"},
    ("", "pods/eviction"): {"create"},
    ("", "pods/status"): {"patch"},
    ("events.k8s.io", "events"): {"create", "patch"},
}
"""In the whole cluster."""

MAY_AT_HOME = {("coordination.k8s.io", "leases"): {"create"}}
MAY_TO_ITS_OWN = {("coordination.k8s.io", "leases"): {"get", "patch"}}


def rights(role: Manifest, *, named: bool) -> set[tuple[str, str, str]]:
    rules = [rule for rule in role["rules"] if ("resourceNames" in rule) == named]
    return {
        each
        for rule in rules
        for each in product(rule.get("apiGroups", "?"), rule.get("resources", "?"), rule["verbs"])
    }


def listed(may: dict[tuple[str, str], set[str]]) -> set[tuple[str, str, str]]:
    return {(group, resource, verb) for (group, resource), verbs in may.items() for verb in verbs}


def test_in_the_cluster_it_may_do_what_is_listed_and_nothing_else(helm: Helm) -> None:
    role = helm.manifests().the("ClusterRole")

    assert rights(role, named=False) - listed(MAY) == set()
    assert rights(role, named=True) == set()


def test_beside_itself_it_may_make_a_lease_and_keep_its_own(helm: Helm) -> None:
    role = helm.manifests().the("Role")

    assert rights(role, named=False) - listed(MAY_AT_HOME) == set()
    assert rights(role, named=True) - listed(MAY_TO_ITS_OWN) == set()


def test_the_list_has_nothing_that_is_not_given_any_more(helm: Helm) -> None:
    assert listed(MAY) - rights(helm.manifests().the("ClusterRole"), named=False) == set()


def test_nobody_else_gets_these_rights(helm: Helm) -> None:
    manifests = helm.manifests()
    account = {"kind": "ServiceAccount", "name": "posse", "namespace": "kube-system"}

    assert manifests.the("ClusterRoleBinding")["subjects"] == [account]
    assert manifests.the("RoleBinding")["subjects"] == [account]
    assert manifests.the("ClusterRoleBinding")["roleRef"]["name"] == manifests.the("ClusterRole")["metadata"]["name"]
    assert manifests.the("RoleBinding")["roleRef"]["name"] == manifests.the("Role")["metadata"]["name"]
