"""How many may go: more while answers are good, fewer when they are slow, half when they fail."""

import asyncio

import pytest

from posse.binding.limiter import Limiter, Limits, Pace
from posse.kube.api.answers import ApiError, LostError
from tests.binding.jumping import now, run

LIMITS = Limits(start=16, floor=2, ceiling=32, fast=0.2, slow=1.0, more=4)


def pace_after(
    rounds: int, seconds: float = 0.1, failures: int = 0, *, full: bool = True, pace: Pace | None = None
) -> Pace:
    """What becomes of a pace when so many rounds are answered like this, of each of which so many fail."""
    pace = pace or Pace(LIMITS)
    for _ in range(rounds):
        limit = pace.limit
        for number in range(limit):
            if number < failures:
                pace.failed(pace.cuts)
            else:
                pace.answered(pace.cuts, seconds, full=full)
    return pace


@pytest.mark.parametrize(
    ("rounds", "seconds", "failures", "limit"),
    [
        (1, 0.1, 0, 20),
        (3, 0.1, 0, 28),
        (9, 0.1, 0, 32),
        (1, 0.3, 0, 16),
        (1, 1.2, 0, 12),
        (9, 1.2, 0, 2),
        (1, 0.1, 1, 20),
        (1, 0.1, 2, 8),
        (5, 0.1, 99, 2),
    ],
    ids=["good", "again", "ceiling", "so-so", "slow", "floor", "one-fails", "two-fail", "all-fail"],
)
def test_what_rounds_come_to(rounds: int, seconds: float, failures: int, limit: int) -> None:
    assert pace_after(rounds, seconds, failures).limit == limit


def test_a_limit_that_was_not_felt_stays() -> None:
    assert pace_after(5, full=False).limit == 16


def test_it_recovers() -> None:
    pace = pace_after(5, failures=99)
    assert pace.bad_rounds > 0

    assert pace_after(8, pace=pace).limit == 32
    assert pace.bad_rounds == 0


def test_all_that_were_under_way_when_the_server_was_too_busy_say_it_once() -> None:
    pace = Pace(LIMITS)
    for _ in range(16):
        pace.busy(0)

    assert pace.limit == 8
    assert pace.cuts == 1


def test_a_range_has_to_be_one() -> None:
    with pytest.raises(ValueError, match="is no range"):
        Limits(start=1, floor=2)


def limiter() -> Limiter:
    return Limiter(Pace(LIMITS), clock=now, sleep=asyncio.sleep, random=lambda: 1.0)


def test_a_busy_server_is_left_alone_as_long_as_it_says() -> None:
    async def story() -> float:
        it = limiter()
        it.learn(it.sent, 0.1, ApiError(429, "TooManyRequests", "busy", retry_after=3), full=True)
        await it.opened()
        return now()

    assert run(story()) == pytest.approx(3)


def test_but_not_for_an_hour() -> None:
    async def story() -> float:
        it = limiter()
        it.learn(it.sent, 0.1, ApiError(429, "TooManyRequests", "busy", retry_after=3600), full=True)
        await it.opened()
        return now()

    assert run(story()) == pytest.approx(10)


def test_a_server_that_is_down_is_tried_less_and_less_often() -> None:
    async def story() -> list[float]:
        it = limiter()
        pauses = []
        for _ in range(5):
            for _ in range(it.limit):
                it.learn(it.sent, 0.0, LostError("no connection", sent=False), full=True)
            began = now()
            await it.opened()
            pauses.append(round(now() - began, 3))
        return pauses

    assert run(story()) == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_refusals_are_answers() -> None:
    async def story() -> int:
        it = limiter()
        for _ in range(16):
            it.learn(it.sent, 0.1, ApiError(409, "Conflict", "no"), full=True)
        return it.limit

    assert run(story()) == 20
