"""Recording a cluster: what its watches tell, in the order in which it came, kept in memory and in a file.

Each event is written as it comes, so if tests end by force, what was seen so far is there to be judged.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from tests.cluster.checker.events import Event, Kind, Object, Type
from tests.cluster.checker.following import PATHS, Follower
from tests.cluster.checker.streaming import WatchingClient
from tests.cluster.waiting import comes_true


class Recorder:
    """Sees and writes down. Made by `recording`."""

    def __init__(self, kubeconfig: Path, path: Path | None) -> None:
        self.path = path
        self._events: list[Event] = []
        self._lock = Lock()
        self._file = path.open("w", encoding="utf-8") if path else None
        client = WatchingClient(kubeconfig)
        self._followers = [Follower(client, kind, self.tell) for kind in PATHS]

    def start(self) -> None:
        """Take in what is there, and follow it."""
        for follower in self._followers:
            follower.start()

    def stop(self) -> None:
        """Stop, and close the file."""
        for follower in self._followers:
            follower.stop()
        if self._file:
            self._file.close()

    def tell(self, kind: Kind, what: Type, thing: Object) -> None:
        """Write something down, as of now."""
        with self._lock:
            event = Event(time.monotonic(), kind, what, lean(thing))
            self._events.append(event)
            if self._file:
                self._file.write(event.line())
                self._file.flush()

    def mark(self, what: Type, **said: str) -> None:
        """Write down a mark."""
        self.tell(Kind.MARK, what, said)

    @property
    def events(self) -> Sequence[Event]:
        """What was seen so far."""
        with self._lock:
            return tuple(self._events)

    def __len__(self) -> int:
        return len(self._events)

    def catch_up(self) -> None:
        """Wait until everything was seen that has happened by now, and say so."""
        if not all(comes_true(follower.has_seen_all) for follower in self._followers):
            raise TimeoutError("the watches did not catch up with the server")
        self.mark(Type.END)


@contextmanager
def recording(kubeconfig: Path, path: Path | None = None) -> Iterator[Recorder]:
    """Record a cluster, as the user of a kubeconfig, who must be allowed to list and watch everywhere."""
    recorder = Recorder(kubeconfig, path)
    try:
        recorder.start()
        yield recorder
    finally:
        recorder.stop()


def lean(thing: Object) -> Object:
    """Leave out what is long and says nothing here."""
    if "managedFields" not in thing.get("metadata", {}):
        return thing
    return {**thing, "metadata": {name: it for name, it in thing["metadata"].items() if name != "managedFields"}}
