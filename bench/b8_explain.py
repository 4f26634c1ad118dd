"""B8: how long an explanation with verified remedies takes, for one gang of a large cluster in which a hundred wait."""

from statistics import median

from bench.report import milliseconds, record, table
from bench.timing import cpu_seconds, without_collector
from posse.errors import Place
from posse.kube.manifests import Manifest, from_values
from posse.kube.meta import instant
from posse.simulation.explaining import explanation_of
from posse.simulation.run import Run
from posse.simulation.scenario import Options, Scenario

NODES, PER_NODE, WAITING = 5_000, 28, 100
NOW = instant("2026-01-01T00:00:00Z")
REPEATS = 3


def _node(name: str) -> dict[str, object]:
    amounts = {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "8", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "status": {"allocatable": amounts},
    }


def _pod(name: str, cpu: str, group: str = "", node: str = "") -> dict[str, object]:
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    metadata = {"name": name, "namespace": "bench", "uid": f"uid-{name}", "annotations": annotations}
    container = {"name": "main", "image": "train", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    spec = {"containers": [container], "schedulerName": "volcano", **({"nodeName": node} if node else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


def _group(name: str, members: int) -> dict[str, object]:
    spec = {"minMember": members, "queue": "default"}
    metadata = {"name": name, "namespace": "bench", "uid": f"uid-{name}"}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}


def _manifests(hopeless: int) -> tuple[Manifest, ...]:
    objects = [_node(f"node-{number}") for number in range(NODES)]
    for node in range(NODES):
        objects.append(_group(f"run-{node}", PER_NODE) | {"status": {"phase": "Running"}})
        objects += [_pod(f"run-{node}-worker-{each}", "1", f"run-{node}", f"node-{node}") for each in range(PER_NODE)]
    for number in range(WAITING):
        objects.append(_group(f"wait-{number}", 4))
        objects += [_pod(f"wait-{number}-worker-{each}", "8", f"wait-{number}") for each in range(4)]
    for number in range(hopeless):
        objects.append(_group(f"hopeless-{number}", 2))
        objects += [_pod(f"hopeless-{number}-worker-{each}", "64", f"hopeless-{number}") for each in range(2)]
    return tuple(from_values(objects, Place()))


def _measured(hopeless: int) -> dict[str, object]:
    run = Run(Scenario(_manifests(hopeless), options=Options(now=NOW, cycles=1)))
    run.to_the_end()
    times, found = [], None
    with without_collector():
        for number in range(REPEATS):
            key = f"bench/wait-{number}"
            began = cpu_seconds()
            found = explanation_of(run, key)(key)
            times.append(cpu_seconds() - began)
    assert found is not None
    remedies = [remedy["action"] for remedy in found["remedies"]]
    return {
        "hopeless": hopeless,
        "first_s": times[0],
        "explain_s": median(times),
        "remedies": remedies,
        "searched": found["searched"],
    }


def run(*, full: bool) -> None:
    """Measure."""
    figures = [_measured(0)] + ([_measured(10_000)] if full else [])
    rows = [
        [
            f"{figure['hopeless']:,}",
            milliseconds(float(str(figure["first_s"]))),
            milliseconds(float(str(figure["explain_s"]))),
            ", ".join(figure["remedies"]),  # type: ignore[arg-type]
            figure["searched"],
        ]
        for figure in figures
    ]
    pods = f"{NODES * PER_NODE:,} running pods"
    note = f"{NODES:,} nodes, {pods}, {WAITING} waiting gangs; CPU ms for one of them, the middle of {REPEATS}."
    table(
        "B8: an explanation with verified remedies",
        note,
        ["hopeless gangs", "first", "explain", "remedies", "searched"],
        rows,
    )
    record("B8", figures)
