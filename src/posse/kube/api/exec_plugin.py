"""Credentials from a program, as cloud providers give them: `users[].user.exec` in a kubeconfig.

The program is told in KUBERNETES_EXEC_INFO what is asked, and prints an ExecCredential: a token or a certificate with
its key, and when they expire. It runs when there is no credential yet, when the last one expired, and when the server
refused it; never twice at a time. Nobody sits at our terminal, so it is told not to ask questions.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from posse.errors import InputError, Place
from posse.kube.api.credentials import Clock, Credential, CredentialError, text_of
from posse.kube.decoding import convert, without_nulls
from posse.kube.meta import instant

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
PATIENCE = 60.0
"""Seconds that a plugin may take."""
MARGIN = 5.0
"""Seconds before it expires that a credential is no longer used: a request takes a while to arrive."""


class Variable(Struct, frozen=True):
    """An environment variable."""

    name: str
    value: str = ""


class ExecConfig(Struct, frozen=True, rename="camel"):
    """What a kubeconfig says about the program."""

    command: str
    api_version: Literal["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]
    args: tuple[str, ...] = ()
    env: tuple[Variable, ...] = ()
    install_hint: str = ""
    interactive_mode: Literal["", "Never", "IfAvailable", "Always"] = ""
    provide_cluster_info: bool = False


class ExecStatus(Struct, frozen=True, rename="camel"):
    """What the program gives."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str = ""


class ExecCredential(Struct, frozen=True, rename="camel"):
    """What the program prints."""

    api_version: str
    kind: Literal["ExecCredential"]
    status: ExecStatus = field(default_factory=ExecStatus)


class ExecPlugin:
    """Credentials from a program."""

    def __init__(
        self,
        config: ExecConfig,
        place: Place,
        cluster: Mapping[str, Any] | None = None,
        clock: Clock = time.time,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._config = config
        self._place = place
        self._cluster = cluster
        self._clock = clock
        self._environ = os.environ if environ is None else environ
        self._credential: Credential | None = None
        self._expires = 0.0
        self._running = asyncio.Lock()

    async def current(self) -> Credential:
        """Give a credential that has not expired, from the program if need be."""
        async with self._running:
            if self._credential is None or (self._expires and self._clock() >= self._expires - MARGIN):
                self._credential = None
                self._credential, self._expires = self._read(await self._run())
            return self._credential

    def refused(self, credential: Credential) -> bool:
        """Ask the program again next time."""
        if credential == self._credential:
            self._credential = None
        return True

    async def _run(self) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command(),
                env={**self._environ, **self._told()},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as fault:
            raise self._fault(f"{self._config.command} cannot be run: {fault.strerror}") from None
        try:
            output, complaint = await asyncio.wait_for(process.communicate(), PATIENCE)
        except TimeoutError:
            raise self._fault(f"{self._config.command} gave no answer in {PATIENCE:.0f} seconds") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            last = complaint.decode(errors="replace").strip()[-500:]
            raise self._fault(f"{self._config.command} failed with {process.returncode}: {last}")
        return output

    def _command(self) -> Sequence[str]:
        program = shutil.which(self._config.command, path=self._environ.get("PATH"))
        if program is None:
            raise self._fault(f"{self._config.command} is not there")
        return [program, *self._config.args]

    def _told(self) -> dict[str, str]:
        """The variables that the program gets on top of ours."""
        spec = {"interactive": False, **({"cluster": self._cluster} if self._cluster else {})}
        info = {"apiVersion": self._config.api_version, "kind": "ExecCredential", "spec": spec}
        told = {variable.name: variable.value for variable in self._config.env}
        return told | {"KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}

    def _read(self, output: bytes) -> tuple[Credential, float]:
        """The credential in what the program printed, and when it expires, 0 for never."""
        try:
            plain = msgspec.json.decode(output)
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            raise self._fault(f"{self._config.command} printed no JSON: {fault}") from None
        try:
            given = convert(without_nulls(plain), ExecCredential, self._place)
        except InputError as fault:
            why = f"{fault.place.field} {fault.message}".strip()
            raise self._fault(f"{self._config.command} printed no ExecCredential: {why}") from None
        if given.api_version != self._config.api_version:
            raise self._fault(f"{self._config.command} printed {given.api_version}, not {self._config.api_version}")
        status = given.status
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._fault(f"{self._config.command} gave half a pair of certificate and key")
        if not (status.token or status.client_key_data):
            raise self._fault(f"{self._config.command} gave neither a token nor a certificate")
        pair = (status.client_certificate_data.encode(), status.client_key_data.encode())
        return Credential(text_of(status.token.encode()), *pair), self._instant(status.expiration_timestamp)

    def _instant(self, text: str) -> float:
        try:
            return instant(text) / 1e9
        except ValueError as fault:
            raise self._fault(f"{self._config.command} gave an expirationTimestamp that is none: {fault}") from None

    def _fault(self, message: str) -> CredentialError:
        hint = self._config.install_hint.strip()
        return CredentialError(message, place=self._place, accepted=hint or "a program that prints an ExecCredential")


def resolved(command: str, folder: Path) -> str:
    """A command with a slash in it is meant from where the kubeconfig lies."""
    return str(folder / command) if "/" in command else command
