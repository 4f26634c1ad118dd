"""Numbers, times, amounts and names as reports say them."""

import pytest

from posse.simulation.report.names import readable, short_names
from posse.simulation.report.words import counted, listed, of, places, said, span

UID = "00000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "0.25s"),
        (59, "59s"),
        (60, "1m"),
        (150, "2m 30s"),
        (3600, "1h"),
        (3661, "1h 1m"),
        (90061, "1d 1h"),
    ],
)
def test_a_length_of_time_has_two_units_at_most(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_things_are_counted_in_one_and_many() -> None:
    assert [counted(number, "pod") for number in (0, 1, 1200)] == ["0 pods", "1 pod", "1,200 pods"]


def test_places_are_counted_where_there_are_several() -> None:
    assert places({"n1": 2, "n2": 1}) == "n1 ×2, n2"


def test_used_of_total_has_the_unit_of_the_total() -> None:
    assert of("memory", float(1 << 29), float(1 << 34)) == "0.5/16Gi"
    assert of("nvidia.com/gpu", 3.0, 8.0) == "3/8"


def test_small_memory_is_told_in_mebibytes() -> None:
    assert said("memory", float(256 << 20)) == "256Mi"


def test_amounts_in_a_row_leave_out_zeros_and_pods() -> None:
    assert listed({"cpu": "500m", "memory": "0", "nvidia.com/gpu": "2", "pods": "7"}) == "cpu 0.5, gpu 2"


def test_a_name_loses_its_uid_where_no_other_is_called_so() -> None:
    assert short_names([f"a/train-{UID}", "b/other"]) == {f"a/train-{UID}": "a/train"}
    assert short_names([f"a/train-{UID}", "a/train"]) == {}


def test_the_default_namespace_goes_without_saying_where_there_is_no_other() -> None:
    assert short_names(["default/a", "default/b"]) == {"default/a": "a", "default/b": "b"}
    assert short_names(["default/a", "team/b"]) == {}


def test_names_are_shortened_wherever_they_stand() -> None:
    names = {f"a/train-{UID}": "a/train"}
    record = {f"a/train-{UID}": [f"waits for a/train-{UID}", 3, None]}

    assert readable(record, names) == {"a/train": ["waits for a/train", 3, None]}
