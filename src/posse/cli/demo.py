"""`posse demo`: a small cluster, scheduled before one's eyes, and what to look at.

The demo is a real run of manifests that come with Posse; every number in it is computed. First the same jobs are
taken pod by pod (a real run too, without the plugin `gang`): what a gang scheduler prevents is best seen happening.
"""

import time
from collections.abc import Iterable
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

import click
from rich.console import RenderableType

from posse.cli import demo_story
from posse.cli.output import is_watched, write
from posse.cli.progress import Progress
from posse.cli.running import Outcome, unexplained, warm_up
from posse.cluster.records import CycleResult
from posse.errors import InputError, Place
from posse.kube import manifests
from posse.simulation.explaining import explanations
from posse.simulation.run import Run
from posse.simulation.scenario import Options, Scenario
from posse.simulation.timeline import Chronicle

CLUSTER: Traversable = files("posse.cli") / "demo_cluster"
MANIFESTS = ("cluster.yaml", "jobs.yaml")
CONFIGURATION, POD_BY_POD = "scheduler.conf", "pod-by-pod.conf"
GLANCE, READ = 1.5, 4.0
"""Seconds to look at what a cycle did, and to read a table. Nobody waits where nobody watches."""


@click.command
@click.option("--write", "folder", metavar="DIR", help="Only write the demo's manifests to DIR, to play with.")
def command(folder: str | None) -> None:
    """Watch gangs being scheduled on a small cluster, in half a minute."""
    if folder is not None:
        _write_out(Path(folder))
        return
    read = _read()
    with Progress() as progress:
        warm_up(progress)
    _say(demo_story.opening(manifest.body for manifest in read), READ)
    pods = _run(read, POD_BY_POD, Options(cycles=1))
    _say(demo_story.pod_by_pod(pods), READ)
    _say(demo_story.in_gangs(), GLANCE)
    run = Run(_scenario(read, CONFIGURATION, Options()))
    _watch(run)
    _say(demo_story.ending(Outcome(run, explanations(run)), pods), 0)


def _read() -> tuple[manifests.Manifest, ...]:
    with as_file(CLUSTER) as folder:
        return tuple(manifests.read(str(folder / name) for name in MANIFESTS))


def _scenario(read: tuple[manifests.Manifest, ...], conf: str, options: Options) -> Scenario:
    return Scenario(read, (CLUSTER / conf).read_text(encoding="utf-8"), conf, options=options)


def _run(read: tuple[manifests.Manifest, ...], conf: str, options: Options) -> Outcome:
    run = Run(_scenario(read, conf, options))
    run.to_the_end()
    return Outcome(run, unexplained)


def _watch(run: Run) -> None:
    """Run to the end, showing each cycle that changed something."""
    chronicle = Chronicle(run.start)
    story = demo_story.Story(run)

    def show(now: int, result: CycleResult) -> None:
        frame = story.frame(chronicle.moment(now, result, story.called))
        if frame:
            _say(frame, GLANCE)

    run.to_the_end(show)


def _say(parts: Iterable[RenderableType], pause: float) -> None:
    write(*parts)
    if is_watched():
        time.sleep(pause)


def _write_out(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*MANIFESTS, CONFIGURATION, POD_BY_POD):
            (folder / name).write_text((CLUSTER / name).read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as fault:
        place = Place(file=str(folder))
        raise InputError(f"cannot be written to: {fault.strerror}", place=place, accepted="a folder") from None
    write(*demo_story.next_steps(str(folder)))
