"""What an answer to a bind means. An API server says 409 to four different things, and sometimes nothing at all.

201                            bound
409, already assigned to ours  bound: an earlier request, whose answer was lost, did it
409, anything else             refused: bound elsewhere, another pod of that name, gated, being deleted
404                            refused: gone
any other 4xx                  refused: forbidden, by admission, or senseless; the same again would be, too
429                            surely not done; the server is busy
no connection, no credential   surely not done
5xx, an answer that was lost   nobody knows: look at the pod
"""

import re
from enum import Enum

import msgspec
from msgspec import Struct

from posse.binding.terms import STARTING, Fault, is_stranger, said
from posse.cluster.records import Bind, Bound, Outcome, Refused
from posse.kube.api.answers import SERVER_ERRORS, ApiError, LostError
from posse.kube.api.credentials import CredentialError

NOT_FOUND = 404
CONFLICT = 409

GONE = "gone"
NAMESAKE = "gone: another pod has its name"

ASSIGNED = re.compile(r'is already assigned to node "([^"]*)"')
NOT_THE_SAME = re.compile("UID in (the )?precondition")
"""What a 409 says when the pod of that name is another one: binding it, or deleting it."""


class Doubt(Enum):
    """What is to be done if an answer settles nothing."""

    AGAIN = "surely not done"
    LOOK = "nobody knows"


class _Meta(Struct, frozen=True):
    uid: str = ""


class _Spec(Struct, frozen=True, rename="camel"):
    node_name: str = ""


class _Pod(Struct, frozen=True):
    metadata: _Meta = _Meta()
    spec: _Spec = _Spec()


_POD = msgspec.json.Decoder(_Pod)


def meaning(bind: Bind, fault: Fault, failures: int) -> Outcome | Doubt:
    """What a bind that was not simply answered came to, after so many failures."""
    match fault:
        case ApiError() if is_stranger(fault) and failures < STARTING:
            return Doubt.AGAIN
        case ApiError(status=status) if status == CONFLICT:
            return _conflict(bind, fault)
        case ApiError(busy=True):
            return Doubt.AGAIN
        case ApiError(status=status) if status >= SERVER_ERRORS:
            return Doubt.LOOK
        case ApiError(status=status):
            return Refused(bind.pod, bind.uid, GONE if status == NOT_FOUND else said(fault))
        case LostError(sent=False) | CredentialError():
            return Doubt.AGAIN
        case _:
            return Doubt.LOOK


def seen(bind: Bind, pod: bytes) -> Outcome | None:
    """What a look at the pod tells; None if it has no node."""
    found = _POD.decode(pod)
    if found.metadata.uid != bind.uid:
        return Refused(bind.pod, bind.uid, NAMESAKE)
    if not found.spec.node_name:
        return None
    return _assigned(bind, found.spec.node_name)


def seen_fault(bind: Bind, fault: Fault) -> Outcome | None:
    """What it tells that a look at the pod failed; None if nothing."""
    if isinstance(fault, ApiError) and fault.status == NOT_FOUND:
        return Refused(bind.pod, bind.uid, GONE)
    return None


def _conflict(bind: Bind, fault: ApiError) -> Outcome:
    if found := ASSIGNED.search(fault.message):
        return _assigned(bind, found[1])
    return Refused(bind.pod, bind.uid, NAMESAKE if NOT_THE_SAME.search(fault.message) else said(fault))


def _assigned(bind: Bind, node: str) -> Outcome:
    if node == bind.node:
        return Bound(bind.pod, bind.uid, node)
    return Refused(bind.pod, bind.uid, f"bound to {node} already")
