"""Installing definitions: what is missing is created, ours are brought up to date, anybody else's is left alone.

Volcano installs the same kinds under the same names. Where it has been before us its definitions are good enough, and
they are not ours to change. Ours say so in a label. They are written by server-side apply, which leaves no field behind
that a newer version of us no longer writes, and which the server can try without doing it. Nobody's definition is
overwritten by accident: if somebody creates one in the same moment, the apply is refused.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct, field

from posse.errors import InputError, Place
from posse.kube.api.answers import ApiError
from posse.kube.api.client import ApiClient, Patch, query_of
from posse.kube.api.resources import is_served
from posse.kube.crds.definitions import MANAGED_BY, US, Definition

COLLECTION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NOT_FOUND = 404

PATIENCE = 30.0
"""Seconds until a definition must be in force. It takes a tenth of one."""
PAUSE = 0.1


class Result(StrEnum):
    """What became of a definition."""

    CREATED = "created"
    UPDATED = "brought up to date"
    OURS = "already there, by Posse"
    THEIRS = "already there, by Volcano: left alone"
    WOULD_CREATE = "would be created"
    WOULD_UPDATE = "would be brought up to date"


class _Condition(Struct, frozen=True):
    type: str
    status: str
    message: str = ""


class _Status(Struct, frozen=True):
    conditions: tuple[_Condition, ...] | None = None
    """None as long as nobody has looked."""


class _Version(Struct, frozen=True):
    name: str
    served: bool = True


class _Versions(Struct, frozen=True):
    versions: tuple[_Version, ...] = ()


class _Labels(Struct, frozen=True):
    labels: dict[str, str] = field(default_factory=dict)


class There(Struct, frozen=True):
    """A definition as the server has it; `spec` as it is, to see whether it would change."""

    metadata: _Labels
    spec: dict[str, Any]
    status: _Status = _Status()

    @property
    def ours(self) -> bool:
        """Whether it came from us."""
        return self.metadata.labels.get(MANAGED_BY) == US

    def serves(self, version: str) -> bool:
        """Whether objects can be had in a version."""
        versions = msgspec.convert(self.spec, _Versions).versions
        return any(each.name == version and each.served for each in versions)

    def is_true(self, condition: str) -> bool:
        """Whether a condition holds."""
        return any(each.type == condition and each.status == "True" for each in self.status.conditions or ())

    @property
    def complaints(self) -> str:
        """What keeps it from being in force."""
        conditions = self.status.conditions or ()
        return "; ".join(each.message for each in conditions if each.status != "True" and each.message)


async def install(
    client: ApiClient,
    wanted: Iterable[Definition],
    *,
    dry_run: bool = False,
    patience: float = PATIENCE,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[tuple[Definition, Result]]:
    """Install definitions, one after the other, and wait for each until it is in force. Raise like the client."""
    for definition in wanted:
        result = await _settle(client, definition, dry_run=dry_run)
        if not dry_run:
            await _until_served(client, definition, patience, sleep)
        yield definition, result


async def _settle(client: ApiClient, definition: Definition, *, dry_run: bool) -> Result:
    """Create it, bring it up to date, or leave it alone."""
    there = await _look(client, definition)
    if there is None:
        await _apply(client, definition, dry_run=dry_run, force=False)
        return Result.WOULD_CREATE if dry_run else Result.CREATED
    if not there.ours:
        _must_serve(there, definition)
        return Result.THEIRS
    tried = await _apply(client, definition, dry_run=True, force=True)
    if tried.spec == there.spec:
        return Result.OURS
    if not dry_run:
        await _apply(client, definition, dry_run=False, force=True)
    return Result.WOULD_UPDATE if dry_run else Result.UPDATED


async def _look(client: ApiClient, definition: Definition) -> There | None:
    try:
        return msgspec.json.decode(await client.get(f"{COLLECTION}/{definition.name}"), type=There)
    except ApiError as refusal:
        if refusal.status == NOT_FOUND:
            return None
        raise


async def _apply(client: ApiClient, definition: Definition, *, dry_run: bool, force: bool) -> There:
    asked = {"fieldManager": US, "force": "true" if force else "", "dryRun": "All" if dry_run else ""}
    path = f"{COLLECTION}/{definition.name}{query_of(asked)}"
    body = msgspec.json.encode(definition.body)
    return msgspec.json.decode(await client.request("PATCH", path, body, Patch.APPLY, repeat=True), type=There)


def _must_serve(there: There, definition: Definition) -> None:
    if not there.serves(definition.version):
        raise InputError(
            f"is there, but not in the version {definition.version}",
            place=Place(object=definition.name),
            accepted="a newer Volcano, or none: then Posse's own definition can be installed",
        )


async def _until_served(
    client: ApiClient, definition: Definition, patience: float, sleep: Callable[[float], Awaitable[None]]
) -> None:
    """Wait until the server serves the kind, and says so to those who ask what it serves."""
    waited = 0.0
    while not await _is_served(client, definition):
        if waited >= patience:
            there = await _look(client, definition)
            why = f": {there.complaints}" if there and there.complaints else ""
            raise InputError(
                f"is still not in force after {patience:g} seconds{why}",
                place=Place(object=definition.name),
                accepted=f"`kubectl describe crd {definition.name}` says more; the same command again goes on",
            )
        await sleep(PAUSE)
        waited += PAUSE


async def _is_served(client: ApiClient, definition: Definition) -> bool:
    there = await _look(client, definition)
    return there is not None and there.is_true("Established") and await is_served(client, definition.resource)
