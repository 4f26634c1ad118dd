"""A watch over plain https: lines, as they come, until the server ends it or somebody else does."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cluster.client import Client, RefusedError

QUIET = 90.0
"""Seconds without a word after which a connection is given up. The server sends bookmarks every minute or so."""


class Stream:
    """An open watch. `hang_up` ends it from another thread."""

    def __init__(self, connection: http.client.HTTPSConnection, answer: http.client.HTTPResponse) -> None:
        self._socket = connection.sock
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        """Give whole lines. How the connection ended is nothing to worry about: one asks again."""
        with suppress(OSError, http.client.HTTPException):
            while (line := self._answer.readline()).endswith(b"\n"):
                yield line

    def hang_up(self) -> None:
        """End it, below TLS, so that whoever reads sees the end and nothing else."""
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class WatchingClient(Client):
    """A client that can listen, too."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(kubeconfig)

    @contextmanager
    def stream(self, path: str) -> Iterator[Stream]:
        """Open a watch. Raises `RefusedError` if there is none to be had."""
        connection = http.client.HTTPSConnection(self._host, context=self._tls, timeout=QUIET)
        try:
            connection.request("GET", path, headers=self._headers)
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise RefusedError(answer.status, {"message": answer.read().decode()})
            yield Stream(connection, answer)
        finally:
            connection.close()
