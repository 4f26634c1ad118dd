"""Reaching a cluster from the command line: who and where, and what went wrong as one message that helps.

Kubernetes' refusals are exact and of little help; whoever has to mend it wants to know whom to ask, and for what.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from posse.errors import InputError, Place
from posse.kube.api.access import Access, find_access
from posse.kube.api.answers import UNAUTHORIZED, ApiError, LostError

FORBIDDEN = 403

REACHABLE = "a server that answers: does `kubectl version` reach it, with the same kubeconfig and context?"

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--kubeconfig", default="", metavar="FILE", help="Where the cluster is. [default: as kubectl has it]"),
    click.option("--context", default="", metavar="NAME", help="Which of its contexts. [default: the current one]"),
)


def cluster_flags(command: Command) -> Command:
    """Give a verb the flags that say which cluster."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def access_to(kubeconfig: str, context: str) -> Access:
    """Find the cluster that is meant."""
    return find_access(os.environ, kubeconfig, context)


@contextmanager
def told_plainly(access: Access, rights: str) -> Iterator[None]:
    """Let a server that cannot be reached or refuses be an InputError; `rights` says whom it would not refuse."""
    try:
        yield
    except LostError as lost:
        raise InputError(lost.message, accepted=REACHABLE) from None
    except ApiError as refusal:
        place = Place(object=access.server.url)
        raise InputError(str(refusal), place=place, accepted=_mended_by(refusal, rights)) from None


def _mended_by(refusal: ApiError, rights: str) -> str:
    if refusal.status == FORBIDDEN:
        return rights
    if refusal.status == UNAUTHORIZED:
        return "a user whom the server knows: credentials that have not expired"
    return "the same command again, if the trouble passes" if refusal.passing else ""
