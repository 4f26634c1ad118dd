"""Customs: how dialects read objects where there are two ways to.

A configuration's compatibility chooses; whoever builds a translator hands the choice over as these values, so that
dialects need not know what a configuration is.
"""

from collections.abc import Callable
from typing import Any, Self

from msgspec import Struct


class Customs(Struct, frozen=True):
    """The choices, with Posse's own as defaults.

    `gated_count`: members behind a scheduling gate count as if they only waited.
    `lone_volcano_pods`: a pod of Volcano's scheduler without a PodGroup is a gang of one; else it only takes room.
    `selector_alone_groups`: a sub-group policy with a selector and no keys makes one sub-group of all that it selects.
    """

    gated_count: bool = False
    lone_volcano_pods: bool = True
    selector_alone_groups: bool = True

    @classmethod
    def under(cls, side: Callable[[Any], str]) -> Self:
        """Choose by a compatibility: `side` gives the side of each switch, by name."""
        return cls(
            gated_count=side("gated-members") == "upstream",
            lone_volcano_pods=side("lone-pods") == "posse",
            selector_alone_groups=side("sub-groups") == "posse",
        )
