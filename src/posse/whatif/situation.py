"""The situation: what a search for remedies asks of whoever holds the objects. The simulator and the live scheduler
each have one.

The search thinks in objects as people wrote them, because those are what people can change. A situation finds them
(the object that declares a gang, the object a pod was made from), and makes trials: copies of the world into which a
change goes through the same ingest as everything else, and in which whole cycles run with every gang competing. In a
trial nothing arrives and nothing ends by itself.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from posse.cluster.verdict import Verdict
from posse.scheduler.engine import Engine
from posse.whatif.explanation import Change, Estimate, LastEviction, Manifest, Reference


class Source(Struct, frozen=True):
    """An object of the input that pods come from: a pod, or an owner with its template.

    `remade` are pods of the input that must be removed for the owner to make them anew.
    """

    manifest: Manifest
    remade: tuple[Reference, ...] = ()


class Trial(Protocol):
    """A copy of the world with a change in it."""

    @property
    def engine(self) -> Engine:
        """The scheduler of the copy; its world has taken in the change, and no cycle has run yet."""

    @property
    def started(self) -> Collection[str]:
        """The gangs that waited outside and have had their minimum at the end of a cycle, and those that had it outside
        and have got a member more, by their names outside.
        """

    @property
    def is_over(self) -> bool:
        """Whether no more cycles will be run for anybody: nothing moves any more, or ten have been run."""

    def starts(self, gang: str) -> bool:
        """Run cycles until a gang has its minimum, or one more if it had that: False if that never comes."""

    def close(self) -> None:
        """Give the copy up; it is not to be used afterwards."""


class Situation(Protocol):
    """Everything as it stands."""

    @property
    def engine(self) -> Engine:
        """The scheduler as it stands, to ask and not to run."""

    @property
    def now(self) -> int:
        """The time, in nanoseconds since the epoch."""

    def verdict(self, gang: str) -> Verdict | None:
        """What was last found about a gang."""

    def last_eviction(self, gang: str) -> LastEviction | None:
        """When a gang last lost a member to another."""

    def estimate(self, gang: str) -> Estimate:
        """When a gang would start if everything takes its declared course."""

    def find(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """An object as it was given, or as it stands if nobody gave it."""

    def names(self, kind: str) -> Sequence[str]:
        """The names of all objects of a kind that belongs to no namespace, in natural order."""

    def declaring(self, gang: str) -> Sequence[Manifest]:
        """The objects of the input that say what a gang's minimum is. Changed alike, they agree."""

    def sources(self, pods: Sequence[str]) -> Sequence[Source]:
        """The objects of the input that these pods were made from, each once, in the pods' order."""

    def removal(self, pods: Sequence[str]) -> Sequence[Reference]:
        """What must be removed for these pods to be gone for good, each once."""

    def trial(self, change: Change) -> Trial:
        """A copy of the world with a change in it."""
