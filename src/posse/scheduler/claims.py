"""Claims: what a task needs beyond columns, such as volumes and devices.

A book keeps one kind of claim. It says how many tasks of a shape each node could still serve, reserves for one task on
one node inside a statement, takes that back when the statement is undone, and gives the payload that the bind must
carry out. The engine knows only this contract; which books there are is the world's builder's business. A kind that no
book is kept for blocks nothing unless its name says that it must (`BLOCKING`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.facts import ClaimReference
from posse.cluster.records import Payload
from posse.cluster.status import OCCUPYING_STATES, PROMISED_STATES, members_of
from posse.cluster.world import World

BLOCKING = frozenset({"device", "device-template"})
"""Claims without which a pod must not start, so that without a book for them it waits."""


class Book(Protocol):
    """One kind of claim."""

    def capacity(self, world: World, shape: int, claim: ClaimReference) -> NDArray[np.int64]:
        """How many more tasks of a shape each node row could serve with this claim."""

    def refusal(self, claim: ClaimReference) -> str:
        """Why a node that serves nobody does not, in words."""

    def reserve(self, world: World, task: int, node: int, claim: ClaimReference) -> Any:
        """Take what a task needs on a node; what is returned undoes it."""

    def undo(self, token: Any) -> None:
        """Give back what was reserved."""

    def payload(self, world: World, task: int, node: int, claim: ClaimReference) -> Payload:
        """What must be done for it with the bind."""


class Hold(Struct, frozen=True):
    """Something reserved in a book."""

    kind: str
    token: Any


class Held(Struct, frozen=True):
    """All that is reserved for one pod."""

    uid: str
    holds: tuple[Hold, ...]


NOTHING = Held("", ())

HOLDS = members_of(*OCCUPYING_STATES, *PROMISED_STATES)
"""Statuses in which a task keeps what is reserved for it."""


class Claims:
    """All books of one engine."""

    def __init__(self, world: World, books: Mapping[str, Book], held: dict[int, Held] | None = None) -> None:
        self._world, self._books = world, dict(books)
        self.held = held if held is not None else {}
        """By task row, what is reserved."""
        self.exist = bool(books)
        """Whether any book is kept at all."""

    def of(self, shape: int) -> tuple[ClaimReference, ...]:
        """The claims of a shape that anything here cares about."""
        return tuple(c for c in self._world.shapes[shape].claims if c.kind in self._books or c.kind in BLOCKING)

    def capacity(self, shape: int, claim: ClaimReference) -> NDArray[np.int64]:
        """How many more tasks of a shape each node row could serve with this claim."""
        book = self._books.get(claim.kind)
        if book is None:
            return np.zeros(len(self._world.nodes), np.int64)
        return book.capacity(self._world, shape, claim)

    def refusal(self, claim: ClaimReference) -> str:
        """Why a node does not serve a claim."""
        book = self._books.get(claim.kind)
        return book.refusal(claim) if book else f"{claim.kind} claim {claim.name} cannot be served here"

    def reserve(self, tasks: NDArray[np.int32], nodes: NDArray[np.int32]) -> None:
        """Take what tasks need on their nodes."""
        if not self._books:
            return
        shapes, facts = self._world.columns.ledger.task_shape, self._world.tasks.facts
        for task, node in zip(tasks.tolist(), nodes.tolist(), strict=True):
            claims, fact = self.of(int(shapes[task])), facts[task]
            if claims and fact is not None:
                taken = [(claim, self._books[claim.kind].reserve(self._world, task, node, claim)) for claim in claims]
                self.held[task] = Held(fact.uid, tuple(Hold(claim.kind, token) for claim, token in taken))

    def holds_for(self, tasks: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For which tasks anything is reserved."""
        return np.array([task in self.held for task in tasks.tolist()], np.bool_)

    def give_back(self, tasks: Iterable[int]) -> None:
        """Give back what is reserved for tasks, last first."""
        for task in tasks:
            for hold in reversed(self.held.pop(task, NOTHING).holds):
                self._books[hold.kind].undo(hold.token)

    def sweep(self) -> None:
        """Give back what is reserved for pods that have ended, lost their node, or are others by now."""
        statuses, facts = self._world.columns.ledger.task_status, self._world.tasks.facts
        self.give_back(
            [
                task
                for task, held in self.held.items()
                if not HOLDS[statuses[task]] or (fact := facts[task]) is None or fact.uid != held.uid
            ]
        )

    def payloads(self, task: int, node: int) -> tuple[Payload, ...]:
        """What must be done with the bind of a task."""
        claims = self.of(int(self._world.columns.ledger.task_shape[task]))
        return tuple(self._books[claim.kind].payload(self._world, task, node, claim) for claim in claims)
