"""Times as the API writes them where it is precise."""

from datetime import UTC, datetime


def micro_time(seconds: float) -> str:
    """Seconds since the epoch as text, to the microsecond."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
