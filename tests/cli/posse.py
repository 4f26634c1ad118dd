"""The command as a test calls it: words in, output and exit code out."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from posse.cli.main import posse as command
from tests.cli.manifests import Manifest, written


class Posse:
    """Calls the command, with files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, stdin: str | bytes = "", **env: str) -> Result:
        """Call the command as it is."""
        return CliRunner().invoke(command, list(words), input=stdin, env={"COLUMNS": "80", **env}, prog_name="posse")

    def file(self, name: str, text: str) -> str:
        """A file of this text."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def on(self, verb: str, manifests: list[Manifest], *words: str, **env: str) -> Result:
        """Call a verb on manifests, under the folder's configuration."""
        file = written(self.folder / "cluster.json", manifests)
        return self(verb, *words, "-f", file, "--config", str(self.folder / "scheduler.conf"), **env)

    def record(self, manifests: list[Manifest], *words: str) -> Any:
        """The result of simulating manifests, as programs read it."""
        result = self.on("simulate", manifests, "-o", "json", *words)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)
