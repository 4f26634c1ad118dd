"""The programs of a control plane: found, or built once and kept.

    python -m tests.cluster.binaries

They come from the Go module in this folder, whose go.mod pins every version. What is built lies in the user's cache,
under a digest of all that goes into it: other versions or flags build anew, and nothing else does. Each program is
built beside its place and moved there when it is whole, so a build that was broken off resumes with the next program;
a lock lets one builder work while the others wait for what it makes.

`KUBEBUILDER_ASSETS` may name a folder with etcd, kube-apiserver, kubectl and the like: what is there is used, what is
not is built. If it cannot be, a control plane goes without its extras: the controller manager and kwok.
"""

import argparse
import fcntl
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.progress import UnavailableError, run
from tests.cluster.toolchain import ENVIRONMENT, MODULE, go

PROGRAMS = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
}
"""What each program is built from."""

CORE = ("etcd", "kube-apiserver", "kubectl")
"""What a control plane cannot be without."""

STAGES = "kwok-stages.yaml"
"""What kwok makes of nodes and pods. It comes with kwok's module, and kwok does nothing without."""

STAGE_FILES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
"""The stages of nodes that are ready at once, and of pods that run at once."""

FLAGS = ("-trimpath", "-buildvcs=false", "-mod=readonly")

HOW = """To have it: `make cluster`, with a Go module proxy in reach, and Go or PyPI; or name a folder that holds
etcd, kube-apiserver and kubectl in KUBEBUILDER_ASSETS."""


def find_or_build(say: Callable[[str], None]) -> Mapping[str, Path]:
    """Give the path of each program and of kwok's stages. Raises `UnavailableError` if the core cannot be had."""
    given, cache = assets(), cached()
    places = {name: given.get(name, cache / name) for name in (*PROGRAMS, STAGES)}
    if all(place.exists() for place in places.values()):
        return places
    try:
        build(places, cache, say)
    except UnavailableError as reason:
        if not all(places[name].exists() for name in CORE):
            raise
        say(f"going without what is missing. {reason}")
    return {name: place for name, place in places.items() if place.exists()}


def assets() -> Mapping[str, Path]:
    """What the user has already, by name."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    return {path.name: path for path in Path(folder).glob("*") if path.name in PROGRAMS} if folder else {}


def cached() -> Path:
    """Where these versions, built with these flags for this machine, are kept."""
    parts = [(MODULE / name).read_bytes() for name in ("go.mod", "go.sum")]
    parts.append("\n".join([*FLAGS, stamp(), platform.system(), platform.machine()]).encode())
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "posse", "control-plane", hashlib.sha256(b"\0".join(parts)).hexdigest()[:16])


def stamp() -> str:
    """Say, for the linker, which release of Kubernetes this is; left alone, the server would call itself v0.0.0."""
    version = re.search(r"^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\S*)", (MODULE / "go.mod").read_text("utf-8"), re.M)
    assert version, "go.mod requires no k8s.io/kubernetes"
    names = ("gitVersion", "gitMajor", "gitMinor")
    told = (f"-X k8s.io/component-base/version.{name}={it}" for name, it in zip(names, version.groups(), strict=True))
    return " ".join(["-s", "-w", *told])


@contextmanager
def one_builder(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until nobody else builds. The lock ends with its holder, however that ends."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("somebody else builds the control plane: waiting for them ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(places: Mapping[str, Path], cache: Path, say: Callable[[str], None]) -> None:
    """Build what is not in its place, one program after the other."""
    cache.mkdir(parents=True, exist_ok=True)
    with one_builder(cache.parent, say), tempfile.TemporaryDirectory(dir=cache.parent, prefix="building-") as scratch:
        names = [name for name, place in places.items() if not place.exists()]
        if not names:
            return
        say(f"building a control plane into {cache}: once, some ten minutes on two cores")
        tool = go(cache.parent, say)
        for number, name in enumerate(names, 1):
            made = Path(scratch, name)
            if name == STAGES:
                made.write_text(stages(tool), "utf-8")
            else:
                command: list[str | Path] = [tool, "build", *FLAGS, f"-ldflags={stamp()}", "-o", made, PROGRAMS[name]]
                run(command, f"{name} ({number} of {len(names)})", say, cwd=MODULE, env=ENVIRONMENT)
            made.rename(cache / name)


def stages(tool: Path) -> str:
    """Gather kwok's stages from its module into one text."""
    asked: list[str | Path] = [tool, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"]
    try:
        told = subprocess.run(asked, cwd=MODULE, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as failure:
        raise UnavailableError(f"kwok's stages cannot be found:\n{failure.stderr}") from failure
    folder = Path(told.stdout.strip(), "kustomize", "stage")
    files = [file for name in STAGE_FILES for file in sorted((folder / name).glob("*-*.yaml"))]
    return "---\n".join(file.read_text("utf-8") for file in files)


def required() -> bool:
    """Whether tests must not do without: in CI, and where somebody says so."""
    return bool(os.environ.get("CI") or os.environ.get("POSSE_REQUIRE_CLUSTER"))


def tell(line: str) -> None:
    """Say it to whoever watches."""
    sys.stderr.write(f"control plane: {line}\n")


def main() -> int:
    """Find or build, and print where everything is."""
    parser = argparse.ArgumentParser(description="Find or build the control plane that tests run against.")
    parser.add_argument("--optional", action="store_true", help="not to have it is no failure, except in CI")
    optional = parser.parse_args().optional and not required()
    try:
        places = find_or_build(tell)
    except UnavailableError as reason:
        tell(f"{reason}\n{HOW}")
        if optional:
            tell("tests that need it are skipped")
        return 0 if optional else 1
    sys.stdout.write("".join(f"{place}\n" for place in places.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
