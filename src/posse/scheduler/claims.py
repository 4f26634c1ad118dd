"""Claims: what a task needs beyond columns, such as volumes and devices.

A book keeps one kind of claim. It is asked about all claims of its kind that a task has at once, for they may compete
with each other: which nodes do not serve them, and why. It reserves for one task on one node inside a statement, takes
that back when the statement is undone, and gives the payloads that the bind must carry out. The engine knows only this
contract; which books there are is the world's builder's business. A kind that no book is kept for blocks nothing unless
its name says that it must (`BLOCKING`).
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

Wanted = tuple[ClaimReference, ...]
"""The claims of one kind that a task has."""


class Objection(Struct, frozen=True):
    """Why some nodes do not serve a task's claims. `of_pod`: it lies with the pod, so that no other node would."""

    words: str
    nodes: NDArray[np.bool_]
    of_pod: bool = False


class Book(Protocol):
    """One kind of claim."""

    @property
    def version(self) -> int:
        """Rises whenever what is reserved changes."""

    def settled(self, world: World, claims: Wanted) -> Iterable[Objection] | None:
        """The objections, where they are the same for whoever has these claims and nothing that is reserved can change
        them; None where they are not. Then nothing is reserved for them either.
        """

    def objections(self, world: World, task: int, claims: Wanted) -> Iterable[Objection]:
        """Which node rows do not serve a task, and why; the first objection to a node counts."""

    def reserve(self, world: World, task: int, node: int, claims: Wanted) -> Any:
        """Take what a task needs on a node, as far as it is to be had; what is returned undoes it."""

    def undo(self, token: Any) -> None:
        """Give back what was reserved."""

    def redo(self, token: Any) -> None:
        """Take again exactly what was given back."""

    def payloads(self, world: World, task: int, node: int, claims: Wanted) -> tuple[Payload, ...]:
        """What must be done for them before the bind."""


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

    @property
    def version(self) -> int:
        """Rises whenever what is reserved changes."""
        return sum(book.version for book in self._books.values())

    def of(self, shape: int) -> dict[str, Wanted]:
        """The claims of a shape that anything here cares about, by kind."""
        found: dict[str, Wanted] = {}
        for claim in self._world.shapes[shape].claims:
            if claim.kind in self._books or claim.kind in BLOCKING:
                found[claim.kind] = (*found.get(claim.kind, ()), claim)
        return found

    def stamp(self, shape: int) -> int:
        """Changes whenever what is settled of a shape's claims may have."""
        return self._world.storage.version if self.of(shape) else 0

    def settled(self, shape: int) -> tuple[Objection, ...] | None:
        """Which node rows do not serve anybody's claims of a shape; None if that has to be asked for each task."""
        found: list[Objection] = []
        for kind, claims in self.of(shape).items():
            book = self._books.get(kind)
            objections = book.settled(self._world, claims) if book is not None else None
            if objections is None:
                return None
            found += objections
        return tuple(found)

    def objections(self, task: int) -> list[Objection]:
        """Which node rows do not serve a task's claims, and why."""
        of = self._of_task(task)
        return [each for kind, claims in of.items() for each in self.objections_to(kind, task, claims)]

    def objections_to(self, kind: str, task: int, claims: Wanted) -> list[Objection]:
        """The same for claims of one kind."""
        book = self._books.get(kind)
        if book is not None:
            return list(book.objections(self._world, task, claims))
        everywhere = np.ones(len(self._world.nodes), np.bool_)
        return [Objection(f"{kind} claim {claims[0].name} cannot be served here", everywhere, of_pod=True)]

    def reserve(self, tasks: NDArray[np.int32], nodes: NDArray[np.int32]) -> None:
        """Take what tasks need on their nodes."""
        if not self._books:
            return
        facts = self._world.tasks.facts
        for task, node in zip(tasks.tolist(), nodes.tolist(), strict=True):
            claims, fact = self._of_task(task), facts[task]
            if claims and fact is not None:
                kept = [(kind, self._books[kind], wanted) for kind, wanted in claims.items() if kind in self._books]
                holds = tuple(Hold(kind, book.reserve(self._world, task, node, wanted)) for kind, book, wanted in kept)
                self.held[task] = Held(fact.uid, holds)

    def held_by(self, tasks: NDArray[np.int32]) -> tuple[tuple[int, Held], ...]:
        """What is reserved for which of these tasks."""
        return tuple((task, self.held[task]) for task in tasks.tolist() if task in self.held) if self.held else ()

    def give_back(self, tasks: Iterable[int]) -> None:
        """Give back what is reserved for tasks, last first."""
        for task in tasks:
            for hold in reversed(self.held.pop(task, NOTHING).holds):
                self._books[hold.kind].undo(hold.token)

    def take_again(self, taken: Iterable[tuple[int, Held]]) -> None:
        """Reserve for tasks exactly what was reserved for them before."""
        for task, held in taken:
            self.held[task] = held
            for hold in held.holds:
                self._books[hold.kind].redo(hold.token)

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
        """What must be done before a task is bound."""
        of = self._of_task(task)
        kept = [(self._books[kind], claims) for kind, claims in of.items() if kind in self._books]
        return tuple(each for book, claims in kept for each in book.payloads(self._world, task, node, claims))

    def _of_task(self, task: int) -> dict[str, Wanted]:
        return self.of(int(self._world.columns.ledger.task_shape[task]))
