"""The explanation of a gang: one record, the same wherever it is shown. Its field names are a promise to programs.

Fields may be added, never renamed or given another meaning. `msgspec.to_builtins` makes the plain form.
"""

from typing import Any, Literal

from msgspec import Struct

from posse.cluster.verdict import BlockerKind, GangState

Action = Literal[
    "add-nodes",
    "wait-for",
    "raise-quota",
    "lower-min",
    "remove-constraint",
    "fix-spec",
    "free-resources",
    "create-object",
]
Manifest = dict[str, Any]
"""A whole object, as plain values."""


class Reference(Struct, frozen=True):
    """An object by its name."""

    kind: str
    namespace: str
    name: str


class ClauseCount(Struct, frozen=True):
    """One requirement of a pod: how many nodes meet it by itself, and how many meet it and all before it."""

    clause: str
    alone: int
    so_far: int


class Obstacle(Struct, frozen=True, kw_only=True):
    """One thing that keeps a gang from starting.

    `nodes` counts nodes by their first refusal; `have` and `need` are in units of `unit`.
    """

    kind: BlockerKind
    plugin: str
    message: str
    have: int | float | None = None
    need: int | float | None = None
    unit: str = ""
    nodes: dict[str, int] = {}
    clauses: tuple[ClauseCount, ...] = ()


class Change(Struct, frozen=True):
    """What is done to the input: objects to create, or to replace by kind and name, and objects to remove."""

    patch: tuple[Manifest, ...] = ()
    remove: tuple[Reference, ...] = ()


class Remedy(Struct, frozen=True, kw_only=True):
    """A change that makes the gang start.

    `verified`: it was tried on a copy of the world, and so was the next smaller one, in vain.
    """

    action: Action
    message: str
    patch: tuple[Manifest, ...] = ()
    remove: tuple[Reference, ...] = ()
    verified: bool = True


class LastEviction(Struct, frozen=True):
    """When a gang last lost a member to another, and why."""

    time: str
    by: str
    action: str
    reason: str


class Position(Struct, frozen=True):
    """Place in line within its queue, and how many wait there."""

    queue: int
    of: int


class Estimate(Struct, frozen=True):
    """When it would start if nothing is changed, as far as declared run times tell."""

    start: str | None = None
    basis: Literal["declared run times", "none"] = "none"


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a gang stands where it stands, and what would make it start."""

    state: GangState
    summary: str
    blockers: tuple[Obstacle, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    searched: Literal["complete", "cut"] = "complete"
    last_eviction: LastEviction | None = None
    position: Position | None = None
    estimate: Estimate = Estimate()
