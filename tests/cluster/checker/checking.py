"""A checker for a test of a scheduler on a real API server.

    with checking(control_plane, schedulers={"posse"}, repair_time=2) as watch:
        ...                                                  # create, kill, restart
        assert watch.all_started(["team/blue"], patience=30)
        watch.asked("team/green")                            # from here on its pods may go: the test deletes them
        with watch.standstill(), control_plane.etcd.paused():
            ...                                              # nobody is blamed for what lasts through this
        watch.verify()                                       # AssertionError, with the report and where the events are

While the API server cannot be reached, nobody is blamed either. What was seen lies in a file beside the control plane's
own, and `verdict` judges it anew.
"""

import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.checker.events import Type
from tests.cluster.checker.history import History
from tests.cluster.checker.recorder import Recorder, recording
from tests.cluster.checker.report import Report
from tests.cluster.checker.rules import not_started
from tests.cluster.checker.verdict import Terms, judge
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import PATIENCE

PAUSE = 0.25
"""Seconds between two looks at everything that was seen, at least; most of the time is for those who are watched."""


class Watch:
    """An eye on a cluster. Made by `checking`."""

    def __init__(self, recorder: Recorder, terms: Terms) -> None:
        self.recorder = recorder
        self.terms = terms
        self.judged = False

    def asked(self, *names: str) -> None:
        """Say that the test deletes what is named: pods, gangs (`namespace/name`), or namespaces."""
        for name in names:
            self.recorder.mark(Type.ASKED, name=name)

    @contextmanager
    def standstill(self) -> Iterator[None]:
        """Let nobody be blamed for time that passes."""
        self.recorder.mark(Type.STILL)
        try:
            yield
        finally:
            self.recorder.mark(Type.MOVING)

    def all_started(self, names: Collection[str], patience: float = PATIENCE) -> bool:
        """Wait until all these gangs have had their minimum bound at once, and all these pods a node."""
        deadline = time.monotonic() + patience
        looked_at = -1
        while True:
            now = time.monotonic()
            if len(self.recorder) != looked_at:
                looked_at = len(self.recorder)
                history = History(self.recorder.events)
                if not any(not_started(history, self.terms.schedulers, names, deadline)):
                    return True
            if now >= deadline:
                return False
            time.sleep(max(PAUSE, 4 * (time.monotonic() - now)))

    def report(self, started: Collection[str] = ()) -> Report:
        """Judge everything that has happened by now."""
        self.judged = True
        self.recorder.catch_up()
        return judge(self.recorder.events, self.terms, started)

    def verify(self, started: Collection[str] = ()) -> Report:
        """Judge, and raise `AssertionError` if a rule was broken, or if what is named did not start."""
        report = self.report(started)
        if report.violations:
            raise AssertionError(f"{report}\nThe events are in {self.recorder.path}")
        return report


@contextmanager
def checking(
    plane: ControlPlane,
    *,
    schedulers: Collection[str],
    repair_time: float,
    slack: float = Terms.slack,
    explain_time: float = Terms.explain_time,
    victims: Collection[str] = (),
    path: Path | None = None,
) -> Iterator[Watch]:
    """Watch a control plane and hold schedulers to the rules. What ends well is verified, if it was not judged yet."""
    path = path or plane.folder / f"seen-{secrets.token_hex(4)}.jsonl"
    terms = Terms(schedulers, repair_time, slack, explain_time, victims)
    with recording(plane.kubeconfig, path) as recorder:
        watch = Watch(recorder, terms)
        yield watch
        if not watch.judged:
            watch.verify()
