"""Clusters of manifests in a line, and what becomes of them.

    after(node(), pod("a", run_time="10s"))["time"] == 11.0

Everything that does not matter is left out; pods ask for one cpu, nodes have four, the clock starts at `START`.
"""

from typing import Any

from posse.errors import Place
from posse.kube.manifests import from_values
from posse.kube.meta import instant
from posse.kube.objects import Pod
from posse.simulation.result import result_of
from posse.simulation.run import Run
from posse.simulation.scenario import Options, Reference, Scenario, Step
from tests.builders import conf

START = "2026-01-01T00:00:00Z"
SECOND = 10**9
PLAIN = conf("priority gang conformance", "drf predicates proportion nodeorder", actions="enqueue, allocate, backfill")

Manifest = dict[str, Any]


def node(name: str = "n1", **allocatable: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": allocatable or {"cpu": "4", "memory": "8Gi"}},
    }


def template(*, cpu: str = "1", group: str = "", **life: str) -> Manifest:
    """What a pod is, but for its name. `life` is what it says of itself: arrival, run_time, exit."""
    notes = {f"posse.dev/{key.replace('_', '-')}": value for key, value in life.items()}
    if group:
        notes["scheduling.k8s.io/group-name"] = group
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"annotations": notes}, "spec": {"containers": [container]}}


def pod(
    name: str, *, on: str = "", status: Manifest | None = None, metadata: Manifest | None = None, **of: Any
) -> Manifest:
    made = template(**of)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **made["metadata"], **(metadata or {})},
        "spec": {**made["spec"], **({"nodeName": on} if on else {})},
        **({"status": status} if status else {}),
    }


def group(name: str, minimum: int, **spec: Any) -> Manifest:
    return owner("PodGroup", name, version="scheduling.volcano.sh/v1beta1", minMember=minimum, **spec)


def owner(kind: str, name: str, *, version: str = "apps/v1", **spec: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def job(name: str, completions: int, parallelism: int, **of: Any) -> Manifest:
    spec = {"completions": completions, "parallelism": parallelism, "template": template(**of)}
    return owner("Job", name, version="batch/v1", **spec)


def step(after_cycle: int, *apply: Manifest, delete: str = "") -> Step:
    """What changes after a cycle; `delete` is a kind and a name."""
    kind, _, name = delete.partition(" ")
    return Step(after_cycle, tuple(from_values(apply, Place())), (Reference(kind, name),) if delete else ())


def begun(*manifests: Manifest, steps: tuple[Step, ...] = (), configuration: str = PLAIN, **options: Any) -> Run:
    """A run that has not had a cycle yet."""
    given = Options(**{"now": instant(START), **options})
    return Run(Scenario(tuple(from_values(manifests, Place())), configuration, steps=steps, options=given))


def run(*manifests: Manifest, **more: Any) -> Run:
    """A run to its end."""
    ran = begun(*manifests, **more)
    ran.to_the_end()
    return ran


def after(*manifests: Manifest, **more: Any) -> dict[str, Any]:
    """The result of a run to its end."""
    return result_of(run(*manifests, **more), lambda _: None)


def phases(of: Run) -> dict[str, str]:
    """The phase of each pod, by bare name."""
    pods = [thing for thing in of.cluster.objects.values() if isinstance(thing, Pod)]
    return {each.metadata.name: each.status.phase for each in sorted(pods, key=str)}
