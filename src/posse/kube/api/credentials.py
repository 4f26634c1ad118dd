"""Who we are to an API server: a token, a client certificate, or both; asked for anew before every request.

Tokens and certificates change under way: the kubelet rotates the token file of a pod, plugins give tokens that expire.
So nobody keeps a credential. `current` gives the one that holds now, and whoever is told 401 says `refused`, after
which the next one is read afresh.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from posse.errors import InputError, Place

REREAD = 60.0
"""Seconds that a file is believed. The kubelet replaces a token long before it expires."""

Clock = Callable[[], float]


class Credential(Struct, frozen=True):
    """What is shown to the server. Certificate and key are PEM."""

    token: str = ""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        """Not the secrets."""
        return "Credential(...)"


class CredentialError(InputError):
    """There is no credential to show at the moment; there may be one later."""


class Credentials(Protocol):
    """Where credentials come from."""

    async def current(self) -> Credential:
        """Give the credential that holds now. Raise CredentialError."""

    def refused(self, credential: Credential) -> bool:
        """Take note that the server did not accept it, and say whether there may be another."""


class Fixed:
    """A credential that never changes; by default none at all."""

    def __init__(self, credential: Credential = Credential()) -> None:  # noqa: B008 - immutable
        self._credential = credential

    async def current(self) -> Credential:
        """Give it."""
        return self._credential

    def refused(self, credential: Credential) -> bool:
        """There is no other."""
        return False


class Part(Struct, frozen=True):
    """A piece of a credential: what is given, or the file that holds it."""

    given: bytes = b""
    file: Path | None = None
    place: Place = Place()

    def __repr__(self) -> str:
        """Not the secrets."""
        return f"Part({self.file or '...'})"

    def read(self) -> bytes:
        """The piece as it is now."""
        if self.file is None:
            return self.given
        try:
            content = self.file.read_bytes()
        except OSError as fault:
            raise CredentialError(
                f"{self.file} cannot be read: {fault.strerror}", place=self.place, accepted="a readable file"
            ) from None
        if not content.strip():
            raise CredentialError(f"{self.file} is empty", place=self.place, accepted="a token, or PEM")
        return content


class Files:
    """A credential whose pieces may lie in files, which are read again now and then."""

    def __init__(
        self,
        token: Part = Part(),  # noqa: B008 - immutable
        certificate: Part = Part(),  # noqa: B008
        key: Part = Part(),  # noqa: B008
        clock: Clock = time.monotonic,
    ) -> None:
        self._parts = (token, certificate, key)
        self._clock = clock
        self._credential: Credential | None = None
        self._read_at = 0.0

    async def current(self) -> Credential:
        """Give what the files say, or said a minute ago at most; or before, while they cannot be read."""
        if self._credential is None or self._clock() - self._read_at >= REREAD:
            try:
                self._credential = self._read()
            except CredentialError:
                if self._credential is None:
                    raise
            self._read_at = self._clock()
        return self._credential

    def refused(self, credential: Credential) -> bool:
        """Read the files again, and see whether they say something else by now."""
        try:
            fresh = self._read()
        except CredentialError:
            return False
        self._credential, self._read_at = fresh, self._clock()
        return fresh != credential

    def _read(self) -> Credential:
        token, certificate, key = (part.read() for part in self._parts)
        return Credential(text_of(token), certificate, key)


def text_of(token: bytes) -> str:
    """A token as text that can stand in a header."""
    text = token.decode("ascii", "replace").strip()
    if not all(33 <= ord(letter) <= 126 for letter in text):
        raise CredentialError("a token holds characters that no token has", accepted="printable ASCII")
    return text
