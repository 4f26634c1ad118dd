"""The command as a person has it: in a folder of their own."""

from pathlib import Path

import pytest

from tests.cli.manifests import CONF
from tests.cli.posse import Posse


@pytest.fixture
def posse(tmp_path: Path) -> Posse:
    """The command, in a folder of its own that holds a configuration."""
    (tmp_path / "scheduler.conf").write_text(CONF, encoding="utf-8")
    return Posse(tmp_path)
