"""An overlay is a mapping of its own, on top of one that stays as it is."""

import pytest

from posse.cluster.overlay import Overlay


def test_what_is_changed_above_stays_as_it_was_below():
    below = {"kept": 1, "changed": 2, "removed": 3}
    above = Overlay(below)

    above["changed"] = 20
    above["new"] = 4
    del above["removed"]

    assert dict(above) == {"kept": 1, "changed": 20, "new": 4}
    assert len(above) == 3
    assert below == {"kept": 1, "changed": 2, "removed": 3}


def test_what_was_removed_is_not_there_until_it_is_set_again():
    above = Overlay({"a": 1})
    del above["a"]

    assert "a" not in above
    with pytest.raises(KeyError):
        del above["a"]

    above["a"] = 2

    assert list(above.items()) == [("a", 2)]


def test_overlays_lie_on_each_other():
    lower = Overlay({"a": 1})
    lower["b"] = 2
    upper = Overlay(lower)
    upper.pop("a")

    assert dict(upper) == {"b": 2}
    assert dict(lower) == {"a": 1, "b": 2}
