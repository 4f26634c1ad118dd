"""The log: one line for each thing that happened, for people or for programs.

    log.info("gang placed", gang="team-a/train", pods=8)

    2026-11-20T00:29:00.123Z INFO gang placed gang=team-a/train pods=8
    {"time":"2026-11-20T00:29:00.123Z","level":"info","message":"gang placed","gang":"team-a/train","pods":8}

Messages are ours. Names and whatever a server says may have been written by anybody, and stand in fields. A line is
printable ASCII and no longer than its fields may be, so nothing in a field can end a line, begin another one, or move a
terminal's cursor. What libraries log goes the same way.
"""

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Literal

Format = Literal["text", "json"]
Value = str | int | float
LEVELS = ("debug", "info", "warning", "error")

LONGEST = 2000
"""Characters of a field; an object may be as large as a megabyte, and a message about it may quote it."""
BARE = re.compile(r"[!#-<>-\[\]-~]+")
"""What needs no quotes in text: printable, and without space, quote, equals sign and backslash."""
UNPRINTABLE = re.compile(r"[^ -~]")


class Log:
    """Takes what happened."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def debug(self, message: str, /, **fields: Value) -> None:
        """Say what only somebody who searches wants to know."""
        self._logger.debug(message, extra={"fields": fields})

    def info(self, message: str, /, **fields: Value) -> None:
        """Say what happened as it should."""
        self._logger.info(message, extra={"fields": fields})

    def warning(self, message: str, /, **fields: Value) -> None:
        """Say what somebody may have to see to."""
        self._logger.warning(message, extra={"fields": fields})

    def error(self, message: str, /, **fields: Value) -> None:
        """Say what went wrong for good."""
        self._logger.error(message, extra={"fields": fields})


class TextLines(logging.Formatter):
    """Lines for people: time, level, message, and fields as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """Make a line."""
        message = record.getMessage()
        said = _quoted(message)[1:-1] if UNPRINTABLE.search(message) else message
        fields = "".join(f" {name}={_shown(value)}" for name, value in _fields(record).items())
        return f"{_time(record)} {record.levelname} {said}{fields}"


class JsonLines(logging.Formatter):
    """Lines for programs: one JSON object each."""

    def format(self, record: logging.LogRecord) -> str:
        """Make a line."""
        head = {"time": _time(record), "level": record.levelname.lower(), "message": _cut(record.getMessage())}
        fields = {name: _cut(value) if isinstance(value, str) else value for name, value in _fields(record).items()}
        return json.dumps(head | fields, separators=(",", ":"))


def logging_to(stream: IO[str], form: Format, level: str) -> Log:
    """Let all that is logged in this process go to a stream; of libraries only warnings, which are many otherwise."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)
    logger = logging.getLogger("posse")
    logger.setLevel(level.upper())
    return Log(logger)


def _fields(record: logging.LogRecord) -> Mapping[str, Value]:
    given: Mapping[str, Value] = getattr(record, "fields", {})
    if record.exc_info is None:
        return given
    return {**given, "trace": logging.Formatter().formatException(record.exc_info)}


def _shown(value: Value) -> str:
    text = _cut(value) if isinstance(value, str) else json.dumps(value)
    return text if BARE.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    """In quotes, with everything escaped that is not printable ASCII."""
    return json.dumps(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} [{len(text) - LONGEST} more]"


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
