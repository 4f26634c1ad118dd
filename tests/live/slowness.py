"""A store that is slow, as on a disk that others use."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from tests.cluster.control_plane import ControlPlane


@contextmanager
def slow_etcd(plane: ControlPlane) -> Iterator[None]:
    """Let etcd stand still four fifths of the time."""
    over = Event()

    def slow() -> None:
        while not over.wait(0.02):
            with plane.etcd.paused():
                over.wait(0.08)

    thread = Thread(target=slow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
