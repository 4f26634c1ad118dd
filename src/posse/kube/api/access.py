"""Where the API server is and as whom we come: from a kubeconfig, or from what every pod is given.

`find_access` looks where kubectl looks: the file that was named, the files in KUBECONFIG, `~/.kube/config`; and if
there is none of these, in the pod it runs in. What comes out is an `Access`; nothing has been connected yet.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from posse.errors import InputError, Place
from posse.kube.api.credentials import Clock, Files, Part
from posse.kube.api.kubeconfig import files_in, read_access
from posse.kube.api.server import Access, Server, contents

IN_A_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_access(
    environ: Mapping[str, str],
    kubeconfig: str = "",
    context: str = "",
    *,
    pod: Path = IN_A_POD,
    clock: Clock = time.monotonic,
    wall_clock: Clock = time.time,
) -> Access:
    """Find the API server that is meant. Raise InputError if there is none, or if what says so is wrong."""
    if files := files_in(environ, kubeconfig):
        return read_access(files, context, environ, clock, wall_clock)
    if environ.get("KUBERNETES_SERVICE_HOST") and not context:
        return access_in_pod(environ, pod, clock)
    raise InputError(
        f"there is no kubeconfig for the context {context!r}" if context else "nothing says where the API server is",
        accepted="--kubeconfig, KUBECONFIG or ~/.kube/config, or running in a pod",
    )


def access_in_pod(environ: Mapping[str, str], pod: Path = IN_A_POD, clock: Clock = time.monotonic) -> Access:
    """Come as the service account of the pod we run in."""
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT", "443")
    authority = contents(pod / "ca.crt", Place(field="the pod's service account"))
    token = Part(file=pod / "token", place=Place(field="the pod's service account"))
    token.read()
    home = pod / "namespace"
    return Access(
        server=Server(url=f"https://{bracketed(host)}:{port}", authority=authority),
        credentials=Files(token, clock=clock),
        namespace=home.read_text("utf-8").strip() if home.exists() else "default",
    )


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


__all__ = ["Access", "Server", "access_in_pod", "find_access"]
