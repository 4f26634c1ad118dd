"""The terms on which binds and evictions are carried out: who is told, who may, and how long it may take."""

import re
from collections.abc import Callable

from posse.cluster.records import Outcome
from posse.kube.api.answers import UNAUTHORIZED, ApiError, LostError
from posse.kube.api.backing_off import Backoff, Random
from posse.kube.api.credentials import CredentialError

Report = Callable[[Outcome], None]
"""Is told what came of it."""
Fence = Callable[[], bool]
"""Says whether we may change anything, at this moment."""
Fault = ApiError | LostError | CredentialError | TimeoutError
"""What a request may come to, other than to what was asked for."""

DEADLINE = 60.0
"""Seconds until each has its outcome, in line and under way. A decision that is older is better made anew."""
ANSWER = 10.0
"""Seconds that one request may take, so that there is time to ask again."""
RESTS = Backoff(first=0.1, longest=5.0)
"""Between two requests for the same pod."""

FORBIDDEN = 403
NO_RIGHTS = re.compile(" cannot (create|delete) resource ")
"""What a 403 says if it is about us. Admission, which refuses a pod, has other words."""
STARTING = 6
"""How often we are a stranger before we believe it: some five seconds. A server that has just started knows nobody's
rights yet."""

NOT_LEADER = "not the leader"
CLOSED = "shutting down"


def rest_after(fault: Fault, failures: int, random: Random) -> float:
    """How long to leave a pod alone."""
    told = fault.retry_after if isinstance(fault, ApiError) else 0.0
    return max(told, RESTS.delay(failures, random))


def is_stranger(fault: Fault) -> bool:
    """Whether the server does not know us, or not our rights, whatever we ask for."""
    if not isinstance(fault, ApiError):
        return False
    return fault.status == UNAUTHORIZED or (fault.status == FORBIDDEN and bool(NO_RIGHTS.search(fault.message)))


def said(fault: Fault) -> str:
    """What was said, without what was asked: equal refusals of several pods are to read alike."""
    text = "no answer in time" if isinstance(fault, TimeoutError) else fault.message
    asked, colon, rest = text.partition(": ")
    return rest if colon and asked.startswith(("POST /", "GET /", "PATCH /", "DELETE /")) else text


def defect(fault: Exception) -> str:
    """What is told of an error that should not be."""
    return f"{type(fault).__name__}: {fault}"
