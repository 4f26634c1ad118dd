"""What comes back from an API server, or does not: answers, refusals, and lost connections.

Whoever asked for a change must know which of three it is: it was refused (`ApiError`), it was surely not done
(`LostError` with `sent` false), or nobody can say (`LostError` with `sent` true).
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

UNAUTHORIZED = 401
GONE = 410
TOO_MANY_REQUESTS = 429
SERVER_ERRORS = 500
ERRORS = 300
"""From here on it is no success: API servers send nobody elsewhere, so whoever does is none."""

LONGEST_MESSAGE = 2000


class Answer(Struct, frozen=True):
    """Status, body, and those headers that anybody reads, their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Cause(Struct, frozen=True):
    """One thing that is wrong with a request."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(Struct, frozen=True, rename="camel"):
    """What a refusal is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: float = 0


class Status(Struct, frozen=True):
    """How an API server puts a refusal."""

    reason: str = ""
    message: str = ""
    code: int = 0
    details: Details = field(default_factory=Details)


class ApiError(Exception):
    """The API server refused. `reason` is one word, such as NotFound; `retry_after` is in seconds, 0 if not told."""

    def __init__(
        self, status: int, reason: str, message: str, details: Details | None = None, retry_after: float = 0.0
    ) -> None:
        super().__init__(status, reason, message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or Details()
        self.retry_after = retry_after

    def __str__(self) -> str:
        """One line: what, and why."""
        return f"{self.status} {self.reason}".strip() + f": {self.message}"

    @property
    def expired(self) -> bool:
        """Whether what was asked for is too old to be told."""
        return self.status == GONE

    @property
    def by_budget(self) -> bool:
        """Whether an eviction was refused because a disruption budget is used up, which looks like a busy server."""
        return any(cause.reason == "DisruptionBudget" for cause in self.details.causes)

    @property
    def busy(self) -> bool:
        """Whether the server would not look at the request now."""
        return self.status == TOO_MANY_REQUESTS and not self.by_budget

    @property
    def passing(self) -> bool:
        """Whether the server has a trouble that may pass."""
        return self.busy or self.status >= SERVER_ERRORS


class LostError(Exception):
    """There was no answer, or not a whole one. If `sent` is false, the server has surely not seen the request."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.sent = sent


def refusal(answer: Answer, asked: str) -> ApiError:
    """What an answer refuses, whoever gave it: the server, or something in front of it that speaks no JSON."""
    status = status_in(answer.body)
    text = status.message or answer.body[:LONGEST_MESSAGE].decode(errors="replace").strip()
    told = _seconds(answer.headers.get("retry-after", ""))
    return refused_by(
        Status(status.reason, f"{asked}: {text}", answer.status, status.details),
        told or status.details.retry_after_seconds,
    )


def refused_by(status: Status, retry_after: float = 0.0) -> ApiError:
    """The refusal that a Status tells."""
    return ApiError(status.code, status.reason, status.message, status.details, retry_after)


def status_in(body: bytes | Any) -> Status:
    """The Status in a body; empty if there is none."""
    try:
        return msgspec.json.decode(body, type=Status)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Status()


def _seconds(text: str) -> float:
    """A Retry-After in seconds. API servers use no dates here."""
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0.0
