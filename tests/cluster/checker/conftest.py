"""What tests of the rules begin with."""

import pytest

from tests.cluster.checker.tape import Tape


@pytest.fixture
def tape() -> Tape:
    """Two nodes that have been there for long."""
    tape = Tape()
    tape.node("n1", labels={"pool": "a", "size": "8"})
    tape.node("n2")
    tape.wait(60)
    return tape
