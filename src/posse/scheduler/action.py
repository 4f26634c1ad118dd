"""The action base: one step of a cycle, in the order that the configuration names."""

from abc import ABC, abstractmethod
from typing import ClassVar

from posse.scheduler.arguments import Argument, Arguments
from posse.scheduler.session import Session

ERROR_CACHE = Argument(
    "predicateErrorCacheEnable",
    "bool",
    True,
    help="Accepted so that configurations load; what refuses a kind of pod is always asked once.",
)
"""An argument of every upstream action that places pods."""


class Action(ABC):
    """A step of the cycle."""

    name: ClassVar[str] = ""
    arguments: ClassVar[tuple[Argument, ...]] = ()

    def __init__(self, arguments: Arguments, actions: tuple[str, ...]) -> None:
        self.settings = arguments
        self.actions = actions
        """All actions of the configuration."""

    @abstractmethod
    def run(self, session: Session) -> None:
        """Do it."""
