"""Helm: built once and kept, like the programs of the test cluster, from the Go module in this folder.

A module of its own, because what goes into the control plane would have to be built anew whenever Helm changes.
"""

import hashlib
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import binaries
from tests.cluster.progress import run
from tests.cluster.toolchain import ENVIRONMENT, go

MODULE = Path(__file__).parent
SOURCE = "helm.sh/helm/v4/cmd/helm"
LINKING = "-ldflags=-s -w"
CHART = MODULE.parents[1] / "deploy" / "chart"

Manifest = dict[str, Any]
Values = Mapping[str, Any]


class HelmError(Exception):
    """What Helm said when it failed."""


def find_or_build(say: Callable[[str], None]) -> Path:
    """Give the path of the program. Raises `UnavailableError` if it cannot be had."""
    shared = binaries.cached().parent
    place = shared.with_name("helm") / digest() / "helm"
    if place.exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    shared.mkdir(parents=True, exist_ok=True)
    with (
        binaries.one_builder(place.parent, say),
        tempfile.TemporaryDirectory(dir=place.parent, prefix="building-") as scratch,
    ):
        if not place.exists():
            made = Path(scratch, "helm")
            command = [go(shared, say), "build", *binaries.FLAGS, LINKING, "-o", made, SOURCE]
            run(command, "helm: once, two minutes on two cores", say, cwd=MODULE, env=ENVIRONMENT)
            made.rename(place)
    return place


def digest() -> str:
    """Name all that goes into the program."""
    parts = [(MODULE / name).read_bytes() for name in ("go.mod", "go.sum")]
    parts.append("\n".join([*binaries.FLAGS, LINKING, platform.system(), platform.machine()]).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


class Helm:
    """Helm on our chart."""

    def __init__(self, program: Path, home: Path) -> None:
        self._program, self._home = program, home

    def run(self, *words: str | Path, values: Values | None = None) -> str:
        """Run it, and give what it prints."""
        given = ["--values", "-"] if values else []
        home = {f"HELM_{kind}_HOME": str(self._home) for kind in ("CACHE", "CONFIG", "DATA")}
        done = subprocess.run(
            [self._program, *words, *given],
            input=json.dumps(dict(values or {})),
            env=os.environ | home,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise HelmError(f"{done.stderr}{done.stdout}".strip())
        return done.stdout

    def text(self, name: str, namespace: str, values: Values | None = None, only: str = "") -> str:
        """Render the chart, or the templates of that name only."""
        shown = ["--show-only", f"templates/{only}.yaml"] if only else []
        return self.run("template", name, CHART, "--namespace", namespace, *shown, values=values)

    def manifests(
        self, values: Values | None = None, name: str = "posse", namespace: str = "kube-system"
    ) -> "Manifests":
        """Render the chart into objects."""
        return Manifests(self.text(name, namespace, values))


class Manifests(list[Manifest]):
    """Objects as a file holds them."""

    def __init__(self, text: str) -> None:
        super().__init__(each for each in yaml.safe_load_all(text) if each)

    def the(self, kind: str) -> Manifest:
        """Give the only one of its kind."""
        (found,) = (each for each in self if each["kind"] == kind)
        return found

    @property
    def kinds(self) -> set[str]:
        return {each["kind"] for each in self}
