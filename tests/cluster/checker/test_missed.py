"""What was missed is read back version by version."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.checker.events import Object
from tests.cluster.checker.missed import Version, between


def thing(at: int) -> Object:
    return {"metadata": {"name": "a", "resourceVersion": str(at)}}


def state(versions: Sequence[Version], at: int) -> Object | None:
    return next((it for made, it in reversed(versions) if made <= at), None)


def read_back(versions: Sequence[Version], low: int, high: int) -> list[Version]:
    told = between(lambda at: state(versions, at), low, state(versions, low), high, state(versions, high))
    return list(told)


@given(made=st.sets(st.integers(1, 60)), low=st.integers(0, 60))
def test_every_version_of_what_is_still_there_is_found(made: set[int], low: int) -> None:
    versions: list[Version] = [(at, thing(at)) for at in sorted(made)]

    assert read_back(versions, low, 60) == [it for it in versions if it[0] > low]


@given(made=st.sets(st.integers(1, 9), min_size=1), gone=st.integers(10, 60), low=st.integers(9, 60))
def test_when_it_went_is_found(made: set[int], gone: int, low: int) -> None:
    versions: list[Version] = [*((at, thing(at)) for at in sorted(made)), (gone, None)]

    assert read_back(versions, low, 60) == ([(gone, None)] if gone > low else [])


def test_what_took_its_name_is_somebody_else() -> None:
    versions: list[Version] = [(5, thing(5)), (8, None), (9, thing(9)), (12, thing(12))]

    assert read_back(versions, 6, 20) == versions[1:]


@pytest.mark.parametrize("low", [2, 5])
def test_what_came_and_went_is_lost(low: int) -> None:
    assert read_back([(6, thing(6)), (8, None)], low, 20) == []
