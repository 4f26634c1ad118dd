"""A node made to fit is told by what differs from one that there is, and by nothing else."""

import pytest

from posse.cluster.world import World
from posse.whatif.fitting import fitting
from tests.whatif.pictures import Manifest, node


@pytest.mark.parametrize(("like", "words"), [(node("n1"), "like n1"), (None, "of any kind")])
def test_the_words_end_where_nothing_differs(like: Manifest | None, words: str) -> None:
    assert fitting(World(0), [], like, {})[0] == words
