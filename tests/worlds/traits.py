"""What a made-up world may contain, so that a test can leave out what it does not speak of."""

from dataclasses import dataclass
from typing import Literal, get_args

Trait = Literal[
    "selectors",
    "taints",
    "ports",
    "affinity",
    "spread",
    "images",
    "gpus",
    "features",
    "roles",
    "priorities",
    "queues",
    "guarantees",
    "admission",
    "best-effort",
    "leaving",
    "finished",
    "gates",
    "nominated",
]

EVERYTHING: frozenset[Trait] = frozenset(get_args(Trait))
PLAIN: frozenset[Trait] = frozenset()
"""Nodes, pods that run, and gangs that ask for cpu and memory in one queue."""


@dataclass(frozen=True)
class Size:
    """How many of what. Members are per gang, residents per node; both are upper bounds."""

    nodes: int = 6
    gangs: int = 6
    members: int = 5
    residents: int = 4


SMALL = Size()
TINY = Size(nodes=3, gangs=2, members=3, residents=2)
