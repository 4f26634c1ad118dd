"""What the demo says, around what really happens: pure text, made from manifests, moments and results."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from posse.cli.running import CalledGangs, Outcome
from posse.simulation.gang_state import has_started
from posse.simulation.occupancy import panels_of
from posse.simulation.report.gangs import gangs
from posse.simulation.report.layout import heading, table
from posse.simulation.report.moments import clock, happenings
from posse.simulation.report.picture import letters, picture
from posse.simulation.report.why import waiting
from posse.simulation.report.words import counted, short
from posse.simulation.result import Record
from posse.simulation.run import Run
from posse.simulation.timeline import Moment

GPU = "nvidia.com/gpu"
MARGIN = (0, 0, 0, 2)


def opening(manifests: Iterable[Any]) -> Iterator[RenderableType]:
    """Who is there, and what they want."""
    bodies = list(manifests)
    nodes = [body for body in bodies if body["kind"] == "Node"]
    jobs = [body for body in bodies if body["kind"] == "Job"]
    gpus = sum(int(node["status"]["allocatable"].get(GPU, 0)) for node in nodes)
    there = f": {counted(len(nodes), 'node')} with {gpus} GPUs, and {counted(len(jobs), 'job')}."
    yield Text.assemble(("Posse demo", "bold"), there)
    yield Text("Each job is a gang: its minimum starts together, or nothing of it does.")
    yield heading("JOBS")
    rows = table("job", "queue", "needs", "pods", "")
    for job in jobs:
        rows.add_row(*_job(job))
    yield rows


def _job(job: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    spec = job["spec"]
    total = sum(task["replicas"] for task in spec["tasks"])
    needs = f"{spec['minAvailable']} of {total}" if spec["minAvailable"] != total else str(total)
    pods = " + ".join(f"{task['replicas']} × {_asks(task)}" for task in spec["tasks"])
    return job["metadata"]["name"], spec["queue"], needs, pods, job["metadata"]["annotations"]["description"]


def _asks(task: Mapping[str, Any]) -> str:
    requests = task["template"]["spec"]["containers"][0]["resources"]["requests"]
    resource = GPU if GPU in requests else "cpu"
    return f"{requests[resource]} {short(resource)}"


def pod_by_pod(outcome: Outcome) -> Iterator[RenderableType]:
    """What a scheduler does that knows pods only."""
    stuck = _stuck(outcome)
    yield heading("POD BY POD")
    yield Text("First as a scheduler does it that knows only pods: the jobs take turns, a pod each.\n")
    yield _picture(outcome.run)
    yield ""
    for name, gang in stuck.items():
        has = f" has {gang['ready']} of the {counted(gang['min'], 'pod')} it needs"
        yield Padding(Text.assemble((name, "bold"), has), MARGIN)
    if len(stuck) > 1:
        yield Text(f"\nThese {len(stuck)} hold what the others wait for. None of them works, none lets go.")


def _stuck(outcome: Outcome) -> dict[str, Record]:
    """The gangs of which some pods have nodes and the rest will never get any."""
    every = outcome.readable["gangs"].items()
    return {name: gang for name, gang in every if gang["nodes"] and not has_started(gang)}


def in_gangs() -> Iterator[RenderableType]:
    """Announce the real thing."""
    yield heading("WITH POSSE")
    yield Text("The same jobs on the same nodes: whole gangs or nothing, so whoever starts also ends.")


def _picture(run: Run) -> RenderableType:
    """All nodes, each an eighth a letter: that of the job which uses it."""
    world = run.engine.world
    return Padding(picture(panels_of(world), letters(world.gangs.keys)), MARGIN)


class Story:
    """The frames of a run: what a cycle changed, and the cluster after it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._called: CalledGangs | None = None

    def called(self, key: str) -> str:
        """What people call a gang. All gangs are known once the first cycle is over."""
        if self._called is None:
            self._called = CalledGangs(self._run)
        return self._called.plain(key)

    def frame(self, moment: Moment) -> list[RenderableType]:
        """One cycle; empty if it changed nothing worth a look."""
        lines = list(happenings(moment))
        if not lines:
            return []
        return ["", clock(moment), *(Padding(line, MARGIN) for line in lines), "", _picture(self._run)]


def ending(outcome: Outcome, pods: Outcome) -> Iterator[RenderableType]:
    """How it ended, also compared with the run pod by pod; why the rest waits, and what to do next."""
    yield from gangs(outcome.readable)
    yield from waiting(outcome.readable)
    started, stuck = sum(map(has_started, outcome.record["gangs"].values())), len(_stuck(pods))
    yield heading("SO")
    yield Text(
        f"Pod by pod, {counted(stuck, 'job')} came to a stop with some of their pods on GPUs. With Posse {started} of "
        f"{len(outcome.record['gangs'])} ran to their end, each started whole, and who had to wait held nothing."
    )
    yield heading("NOW YOU")
    yield from next_steps("")


def next_steps(folder: str) -> Iterator[RenderableType]:
    """What to type next."""
    if folder:
        yield Text(f"Written to {folder}.\n")
    there = f"cd {folder}" if folder else "posse demo --write demo; cd demo"
    policy = "posse simulate -f . --config scheduler.conf"
    steps = (
        (there, "these manifests, to look at and to change"),
        (f"{policy} --events", "run them, with all that happens on the way"),
        ("posse explain giant -f . --config scheduler.conf", "ask why one of them waits"),
        (
            "posse simulate -f . --config pod-by-pod.conf --cycles 1",
            "see once more what a scheduler of single pods does",
        ),
        ("kubectl get nodes,pods,queues,podgroups -A -o yaml > mine.yaml", "then take a cluster of your own"),
        ("posse simulate -f mine.yaml -f job.yaml", "and ask what it would do with your job"),
    )
    for line, why in steps:
        yield Text(f"  {line}", style="bold")
        yield Text(f"      {why}", style="dim")
