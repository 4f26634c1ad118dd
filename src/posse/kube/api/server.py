"""An API server, and as whom we come to it: all that is needed to connect, and nothing connected yet."""

from pathlib import Path

from msgspec import Struct

from posse.errors import InputError, Place
from posse.kube.api.credentials import Credentials, Fixed


class Server(Struct, frozen=True):
    """An API server, and how we know that it is the one. `authority` is PEM; empty: whom the system trusts."""

    url: str
    authority: bytes = b""
    tls_name: str = ""
    verified: bool = True


class Access(Struct, frozen=True):
    """An API server, and as whom we come. `headers` go with every request."""

    server: Server
    credentials: Credentials = Fixed()
    headers: tuple[tuple[str, str], ...] = ()
    namespace: str = "default"


def contents(file: Path, place: Place) -> bytes:
    """What a file holds. Raise InputError, telling who names it."""
    try:
        return file.read_bytes()
    except OSError as fault:
        reason = fault.strerror or "unreadable"
        raise InputError(f"{file} cannot be read: {reason}", place=place, accepted="a readable file") from None
