"""Every picture of a cluster comes out as it says. What went wrong is told in the words of the cluster."""

from pathlib import Path

import pytest

from tests.scenarios.picture import Picture

PICTURES = sorted(Path(__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_the_picture_is_right(path: Path) -> None:
    picture = Picture(path)

    faults = picture.faults()

    assert not faults, "\n  ".join((f"{path.name}: {picture.story}", *faults))


def test_every_picture_tells_a_story() -> None:
    assert len(PICTURES) >= 25
    assert [path.name for path in PICTURES if len(Picture(path).story) < 20] == []
