"""Binding on a real API server, as a service account that may do no more than bind, look and evict."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event
from time import monotonic
from typing import Any

import pytest

from posse.binding.binder import Binder
from posse.binding.evictor import Evictor
from posse.binding.limiter import Limiter, Pace
from posse.binding.terms import DEADLINE
from posse.cluster.records import Bind, Bound, Evict, Kept, Outcome, Refused
from posse.kube.api.access import find_access
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from tests.cluster.client import RefusedError
from tests.cluster.control_plane import ControlPlane, KubectlError
from tests.cluster.waiting import PATIENCE, comes_true

RULES = [
    {"apiGroups": [""], "resources": ["pods/binding", "pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "delete"]},
]


Use = Callable[[ApiClient, Limiter], Awaitable[None]]


@dataclass
class Ranch:
    """A namespace with pods, and an account that may bind them."""

    plane: ControlPlane
    namespace: str
    account: Path
    outcomes: list[Outcome] = field(default_factory=list)
    begun: Event = field(default_factory=Event)

    @property
    def pods(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def pod(self, name: str, **meta: Any) -> Bind:
        """Make a pod, and decide where it goes."""
        spec = {"containers": [{"name": "main", "image": "none"}], "schedulerName": "posse"}
        made = self.plane.client.create(self.pods, {"metadata": {"name": name, **meta}, "spec": spec})
        return Bind(f"{self.namespace}/{name}", made["metadata"]["uid"], "horse", f"{self.namespace}/gang")

    def gang(self, size: int) -> list[Bind]:
        return [self.pod(f"rider-{number}") for number in range(size)]

    def node_of(self, bind: Bind) -> str:
        name = bind.pod.partition("/")[2]
        found = self.plane.client.get(f"{self.pods}/{name}")
        return str(found["spec"].get("nodeName", "")) if found["metadata"]["uid"] == bind.uid else ""

    def report(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.begun.set()

    def run(self, use: Use, meanwhile: Callable[[], object] = lambda: None) -> list[Outcome]:
        """Use a client as the service account. What happens meanwhile is done beside it, by who owns the processes."""

        async def story() -> None:
            limiter = Limiter(Pace(), clock=monotonic, sleep=asyncio.sleep, random=Random(1).random)
            async with ApiClient(find_access({}, str(self.account)), backoff=Backoff(attempts=1)) as client:
                await use(client, limiter)

        with ThreadPoolExecutor(1) as beside:
            done = beside.submit(asyncio.run, story())
            meanwhile()
            done.result()
        return self.outcomes

    def bound(
        self, binds: list[Bind], meanwhile: Callable[[], object] = lambda: None, deadline: float = DEADLINE
    ) -> list[Outcome]:
        """What comes of binds, and of what happens meanwhile."""

        async def use(client: ApiClient, limiter: Limiter) -> None:
            binder = Binder(
                client,
                self.report,
                limiter=limiter,
                may_bind=lambda: True,
                clock=monotonic,
                sleep=asyncio.sleep,
                deadline=deadline,
            )
            binder.carry_out(binds)
            await binder.drain(PATIENCE * 2)

        return self.run(use, meanwhile)

    def evicted(self, evict: Evict, *, by_delete: bool = False) -> list[Outcome]:
        """What comes of an eviction."""

        async def use(client: ApiClient, limiter: Limiter) -> None:
            evictor = Evictor(
                client,
                self.report,
                limiter=limiter,
                may_evict=lambda: True,
                clock=monotonic,
                sleep=asyncio.sleep,
                by_delete=by_delete,
            )
            evictor.carry_out([evict])
            await evictor.drain(PATIENCE)

        return self.run(use)


@pytest.fixture
def ranch(control_plane: ControlPlane, namespace: str) -> Ranch:
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    account = control_plane.service_account(namespace, "posse")
    control_plane.client.create(f"{rbac}/roles", {"metadata": {"name": "posse"}, "rules": RULES})
    control_plane.client.create(
        f"{rbac}/rolebindings",
        {
            "metadata": {"name": "posse"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "posse"},
            "subjects": [{"kind": "ServiceAccount", "name": "posse", "namespace": namespace}],
        },
    )
    may = ("auth", "can-i", "create", "pods", "--subresource=binding", "-n", namespace)

    def has_rights() -> bool:
        with suppress(KubectlError):
            control_plane.kubectl(*may, kubeconfig=account)
            return True
        return False

    assert comes_true(has_rights)
    return Ranch(control_plane, namespace, account)


def test_a_gang_of_fifty_is_bound(ranch: Ranch) -> None:
    binds = ranch.gang(50)

    outcomes = ranch.bound(binds)

    assert sorted(outcomes, key=str) == sorted((Bound(it.pod, it.uid, "horse") for it in binds), key=str)
    assert {ranch.node_of(it) for it in binds} == {"horse"}


def test_each_refusal_is_known_for_what_it_is(ranch: Ranch) -> None:
    taken, ours, namesake, gone = ranch.pod("taken"), ranch.pod("ours"), ranch.pod("namesake"), ranch.pod("gone")
    ranch.bound([Bind(taken.pod, taken.uid, "mule", taken.gang), ours])
    ranch.outcomes.clear()
    ranch.plane.client.delete(f"{ranch.pods}/gone?gracePeriodSeconds=0")
    gated = ranch.plane.client.create(
        ranch.pods,
        {
            "metadata": {"name": "gated"},
            "spec": {"containers": [{"name": "main", "image": "none"}], "schedulingGates": [{"name": "x/y"}]},
        },
    )["metadata"]["uid"]
    binds = [
        *(taken, ours, gone),
        Bind(namesake.pod, "11111111-2222-3333-4444-555555555555", "horse", "g"),
        Bind(f"{ranch.namespace}/gated", gated, "horse", "g"),
    ]

    told = {it.pod.partition("/")[2]: it for it in ranch.bound(binds)}

    assert isinstance(told["ours"], Bound)
    reasons = {name: it.reason for name, it in told.items() if isinstance(it, Refused)}
    assert "non-empty .spec.schedulingGates" in reasons.pop("gated")
    assert reasons == {
        "taken": "bound to mule already",
        "gone": "gone",
        "namesake": "gone: another pod has its name",
    }


def test_pods_that_are_deleted_in_the_middle_of_a_gang_cost_the_others_nothing(ranch: Ranch) -> None:
    binds = ranch.gang(30)
    deleted = binds[-5:]

    def meanwhile() -> None:
        for it in deleted:
            ranch.plane.client.delete(f"{ranch.pods}/{it.pod.partition('/')[2]}?gracePeriodSeconds=0")

    outcomes = ranch.bound(binds, meanwhile)

    assert sorted(it.uid for it in outcomes) == sorted(it.uid for it in binds)
    lost = {it.uid for it in deleted}
    assert all(isinstance(it, Bound) or it == Refused(it.pod, it.uid, "gone") for it in outcomes)
    assert all(isinstance(it, Bound) for it in outcomes if it.uid not in lost)


@pytest.fixture
def policy(ranch: Ranch) -> Iterator[None]:
    """Admission refuses to bind one rider."""
    api = "/apis/admissionregistration.k8s.io/v1"
    name = ranch.namespace
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    here = {"matchLabels": {"kubernetes.io/metadata.name": name}}
    refusal = {"expression": "object.metadata.name != 'rider-3'", "message": "no room for him", "reason": "Forbidden"}
    spec = {"matchConstraints": {"resourceRules": [rule], "namespaceSelector": here}, "validations": [refusal]}
    binding = {"policyName": name, "validationActions": ["Deny"]}
    ranch.plane.client.create(f"{api}/validatingadmissionpolicies", {"metadata": {"name": name}, "spec": spec})
    ranch.plane.client.create(f"{api}/validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": binding})
    yield
    ranch.plane.client.delete(f"{api}/validatingadmissionpolicybindings/{name}")
    ranch.plane.client.delete(f"{api}/validatingadmissionpolicies/{name}")


@pytest.mark.usefixtures("policy")
def test_whom_admission_refuses_is_refused_in_its_words_and_at_once(ranch: Ranch) -> None:
    binds = ranch.gang(5)

    def is_in_force() -> bool:
        trial = {"metadata": {"name": "rider-3"}, "target": {"kind": "Node", "name": "horse"}}
        try:
            ranch.plane.client.create(f"{ranch.pods}/rider-3/binding?dryRun=All", trial)
        except RefusedError as refusal:
            return "no room for him" in str(refusal)
        return False

    assert comes_true(is_in_force)
    outcomes = ranch.bound(binds)

    (refused,) = [it for it in outcomes if not isinstance(it, Bound)]
    assert isinstance(refused, Refused)
    assert refused.pod == binds[3].pod
    assert "no room for him" in refused.reason
    assert len(outcomes) == 5


def test_a_server_that_is_killed_in_the_middle_and_comes_back(ranch: Ranch) -> None:
    binds = ranch.gang(200)

    def meanwhile() -> None:
        assert ranch.begun.wait(PATIENCE)
        ranch.plane.restart_apiserver(0)

    outcomes = ranch.bound(binds, meanwhile)

    assert sorted(it.uid for it in outcomes) == sorted(it.uid for it in binds)
    assert [it for it in outcomes if not isinstance(it, Bound)] == []
    assert {ranch.node_of(it) for it in binds} == {"horse"}


def test_a_server_that_does_not_come_back_in_time(ranch: Ranch) -> None:
    binds = ranch.gang(200)

    def meanwhile() -> None:
        assert ranch.begun.wait(PATIENCE)
        ranch.plane.stop_apiserver(0)

    try:
        outcomes = ranch.bound(binds, meanwhile, deadline=3)
    finally:
        ranch.plane.start_apiserver()

    assert sorted(it.uid for it in outcomes) == sorted(it.uid for it in binds)
    node = {it.uid: ranch.node_of(it) for it in binds}
    assert {node[it.uid] for it in outcomes if isinstance(it, Bound)} == {"horse"}
    assert {node[it.uid] for it in outcomes if isinstance(it, Refused)} == {""}


# evictions


def running(ranch: Ranch, name: str) -> Evict:
    """A pod that runs, for budgets do not protect those that do not."""
    bind = ranch.pod(name, labels={"app": "rider"})
    ranch.bound([bind])
    ranch.outcomes.clear()
    it = ranch.plane.client.get(f"{ranch.pods}/{name}")
    it["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    ranch.plane.client.request("PUT", f"{ranch.pods}/{name}/status", it)
    return Evict(bind.pod, bind.uid, "horse", bind.gang, "repair")


def is_leaving(ranch: Ranch, name: str) -> bool:
    """Whether a pod is gone, or has been told to go."""
    code, text = ranch.plane.client.text("GET", f"{ranch.pods}/{name}")
    return code == 404 or "deletionTimestamp" in json.loads(text)["metadata"]


@pytest.fixture
def budget(ranch: Ranch) -> str:
    """A disruption budget that is used up."""
    budgets = f"/apis/policy/v1/namespaces/{ranch.namespace}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "rider"}}}
    made = ranch.plane.client.create(budgets, {"metadata": {"name": "posse"}, "spec": spec})
    made["status"] = {
        "observedGeneration": 1,
        "disruptionsAllowed": 0,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    ranch.plane.client.request("PUT", f"{budgets}/posse/status", made)
    return f"{budgets}/posse"


def test_a_pod_is_evicted(ranch: Ranch) -> None:
    assert ranch.evicted(running(ranch, "rider")) == []
    assert is_leaving(ranch, "rider")


def test_whom_a_budget_protects_stays_and_the_budget_says_why(ranch: Ranch, budget: str) -> None:
    evict = running(ranch, "rider")

    (kept,) = ranch.evicted(evict)

    assert isinstance(kept, Kept)
    assert kept.reason == "The disruption budget posse needs 1 healthy pods and has 1 currently"
    assert not is_leaving(ranch, "rider")


@pytest.mark.usefixtures("budget")
def test_a_plain_delete_asks_no_budget(ranch: Ranch) -> None:
    assert ranch.evicted(running(ranch, "rider"), by_delete=True) == []
    assert is_leaving(ranch, "rider")


@pytest.mark.parametrize("by_delete", [False, True])
def test_a_namesake_is_left_alone(ranch: Ranch, by_delete: bool) -> None:
    it = running(ranch, "rider")
    other = Evict(it.pod, "11111111-2222-3333-4444-555555555555", it.node, it.by, it.action)

    assert ranch.evicted(other, by_delete=by_delete) == []
    assert not is_leaving(ranch, "rider")


def test_who_is_gone_need_not_leave(ranch: Ranch) -> None:
    assert ranch.evicted(Evict(f"{ranch.namespace}/nobody", "u", "horse", "g", "repair")) == []
