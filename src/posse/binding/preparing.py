"""Preparing: what the members of a gang need before they are bound (volumes; later claims of devices), all or nothing.

Nothing of the gang is bound before all of it is ready. If one thing cannot be had, the rest is cut off, and all that
was begun is undone: what failed may have been done in part, and what was cut off may be done all the same.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from posse.cluster.records import Bind, Payload


class Preparer(Protocol):
    """Knows how to prepare one kind of payload. Its requests are its own, so it should ask the fence, too."""

    @property
    def deadline(self) -> float:
        """Seconds that preparing one may take, and undoing it."""

    async def prepare(self, bind: Bind, payload: Payload) -> None:
        """Make ready what this pod needs on its node. Raise if it cannot be: the message goes to the user.

        Several pods may need the same, and what is ready already is fine.
        """

    async def undo(self, bind: Bind, payload: Payload) -> None:
        """Give back what `prepare` took, all, part or none of which may have been taken."""


class NotPreparedError(Exception):
    """Why a gang is not ready."""


class Preparation(Struct, frozen=True):
    """One thing to make ready."""

    bind: Bind
    payload: Payload
    preparer: Preparer

    def __str__(self) -> str:
        """What it is, as users are told."""
        return f"{self.payload.kind} {self.payload.name}"


def preparations(binds: Iterable[Bind], preparers: Mapping[str, Preparer]) -> list[Preparation]:
    """All that these binds need. Raise NotPreparedError if nobody knows how."""
    found = []
    for bind in binds:
        for payload in bind.payloads:
            if payload.kind not in preparers:
                raise NotPreparedError(f"{payload.kind} {payload.name}: nobody prepares what is called {payload.kind}")
            found.append(Preparation(bind, payload, preparers[payload.kind]))
    return found


async def prepare_all(wanted: Iterable[Preparation]) -> None:
    """Make all ready. Raise NotPreparedError if that cannot be; all that was begun has been undone then."""
    begun: list[Preparation] = []
    reason = ""
    try:
        async with asyncio.TaskGroup() as group:
            for it in wanted:
                group.create_task(_prepare(it, begun))
    except* NotPreparedError as faults:
        reason = str(faults.exceptions[0])
    if reason:
        raise NotPreparedError("; ".join((reason, *await undo_all(begun))))


async def undo_all(begun: Iterable[Preparation]) -> list[str]:
    """Give all back that can be; tell what could not."""
    told = await asyncio.gather(*map(_undo, begun))
    return [it for it in told if it]


async def _prepare(it: Preparation, begun: list[Preparation]) -> None:
    begun.append(it)
    try:
        async with asyncio.timeout(it.preparer.deadline):
            await it.preparer.prepare(it.bind, it.payload)
    except TimeoutError:
        raise NotPreparedError(f"{it}: not ready in {it.preparer.deadline:g} seconds") from None
    except Exception as fault:
        raise NotPreparedError(f"{it}: {fault}") from fault


async def _undo(it: Preparation) -> str:
    """Undo one; why it could not be, if so. One that fails must not keep the others."""
    try:
        async with asyncio.timeout(it.preparer.deadline):
            await it.preparer.undo(it.bind, it.payload)
    except TimeoutError:
        return f"{it} not undone in {it.preparer.deadline:g} seconds"
    except Exception as fault:
        return f"{it} not undone: {fault}"
    return ""
