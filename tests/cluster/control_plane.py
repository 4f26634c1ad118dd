"""A real control plane on the loopback: etcd and kube-apiserver, and what else a test wants of a cluster.

    with control_plane(folder) as plane:
        plane.kubectl("create", "namespace", "team-a")
        scheduler = plane.service_account("kube-system", "posse")      # a kubeconfig, as in a pod
        someone = plane.kubeconfig_for("ann", groups=["team-a"])       # a kubeconfig with a client certificate
        with plane.start_controller_manager(), plane.start_kwok():
            ...                                                        # Jobs make pods, nodes are Ready, pods run

Nothing is switched off that a scheduler meets in production: TLS, RBAC, priority and fairness. The administrator is
exempt from the latter two, so what is under test should come as somebody else. What is missing are the controllers,
until they are started; therefore the two admission plugins are off that would wait for one of them (a pod would need
its namespace's service account, a new node would stay tainted), and the roles `view`, `edit` and `admin` are empty.

Faults are made with the processes at hand: `etcd.paused()`, `stop_apiserver()` and `start_apiserver()`,
`restart_apiserver()`. Everything the processes say and keep is in the folder. SIGTERM ends a control plane like Ctrl-C
does, and should we be killed, see `processes` for what becomes of it.
"""

import http.client
import random
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.cluster.binaries import STAGES, find_or_build, tell
from tests.cluster.certificates import Authority
from tests.cluster.client import Client, RefusedError
from tests.cluster.processes import Process
from tests.cluster.progress import UnavailableError

HOST = "127.0.0.1"

PORTS = range(20000, 32000)
"""Below those that the system hands out: nobody takes one by accident while its server is being restarted."""


UNLIMITED = (
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
)


@dataclass(frozen=True, slots=True)
class Options:
    """How a control plane differs from the usual."""

    fairness: bool = True
    """API priority and fairness, and the limits on requests in flight. Off for measuring the server itself."""
    fsync: bool = True
    """Whether etcd waits for the disk. Without, data still outlives every process, but not the machine."""
    audit: Literal["", "Metadata", "Request", "RequestResponse"] = ""
    """What of each request goes to `audit_log`."""
    apiserver_flags: Sequence[str] = ()
    """More flags of kube-apiserver, such as `--feature-gates=GenericWorkload=true`."""


USUAL = Options()


class KubectlError(Exception):
    """What kubectl said when it failed."""


class ControlPlane:
    """A running control plane. Made by `control_plane`."""

    etcd: Process
    apiserver: Process

    def __init__(self, folder: Path, programs: Mapping[str, Path], options: Options) -> None:
        self.folder = folder
        self.audit_log = folder / "audit.log"
        self.server = f"https://{HOST}:{free_port()}"
        self._programs = programs
        self._options = options
        self._etcd_url = f"http://{HOST}:{free_port()}"
        self._peer_url = f"http://{HOST}:{free_port()}"
        self._running: list[Process] = []
        self._authority = Authority(folder / "pki")
        self._pair = self._authority.server()
        self.kubeconfig = self.kubeconfig_for("admin", ["system:masters"])
        self.client = Client(self.kubeconfig)

    def start(self) -> None:
        """Start etcd and the API server, and wait until they serve."""
        self.start_etcd()
        self.start_apiserver()

    def stop(self) -> None:
        """End every process, the youngest first. Their data and logs stay in the folder."""
        while self._running:
            self._running.pop().stop()

    # who may come in

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig for a user with a client certificate. What the user may do is up to RBAC."""
        pair = self._authority.client(user, groups)
        who = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
        return self._write_kubeconfig(user, pair.certificate.with_suffix(".kubeconfig"), who)

    def service_account(self, namespace: str, name: str, hours: int = 1) -> Path:
        """Write a kubeconfig with the token of a service account, which is made if it is not there."""
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        with suppress(RefusedError):
            self.client.create(accounts, {"metadata": {"name": name}})
        made = self.client.create(f"{accounts}/{name}/token", {"spec": {"expirationSeconds": hours * 3600}})
        path = self.folder / f"{namespace}-{name}.kubeconfig"
        return self._write_kubeconfig(name, path, {"token": made["status"]["token"]})

    def client_for(self, user: str, groups: Sequence[str] = ()) -> Client:
        """Give plain https as a user."""
        return Client(self.kubeconfig_for(user, groups))

    def kubectl(self, *words: str, stdin: str | None = None, kubeconfig: Path | None = None) -> str:
        """Run kubectl, as administrator unless told otherwise, and give what it prints."""
        own = ("--kubeconfig", kubeconfig or self.kubeconfig, "--cache-dir", self.folder / "kubectl-cache")
        done = subprocess.run(
            [self._program("kubectl"), *own, *words], input=stdin, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    # its processes

    def start_etcd(self) -> None:
        """Start etcd on the data it has, or on none."""
        command: list[str | Path] = [
            self._program("etcd"),
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self._etcd_url}",
            f"--advertise-client-urls={self._etcd_url}",
            f"--listen-peer-urls={self._peer_url}",
            f"--initial-advertise-peer-urls={self._peer_url}",
            f"--initial-cluster=default={self._peer_url}",
            "--log-level=warn",
            *([] if self._options.fsync else ["--unsafe-no-fsync"]),
        ]
        self.etcd = self._start("etcd", command)

    def start_apiserver(self) -> None:
        """Start the API server, on the address it had if it had one, and wait until it is ready."""
        self.apiserver = self._start("kube-apiserver", [self._program("kube-apiserver"), *self._apiserver_flags()])
        self.apiserver.until(self.ready)

    def stop_apiserver(self, grace: float = 10.0) -> None:
        """End the API server: as an update would, or, without grace, as a crash would."""
        self.apiserver.stop(grace)

    def restart_apiserver(self, grace: float = 10.0) -> None:
        """End the API server and start it again."""
        self.stop_apiserver(grace)
        self.start_apiserver()

    def ready(self) -> bool:
        """Whether the API server says that it can serve."""
        with suppress(OSError, http.client.HTTPException):
            return self.client.text("GET", "/readyz")[0] == http.client.OK
        return False

    def start_controller_manager(self, *flags: str) -> Process:
        """Start the usual controllers: Jobs make pods, namespaces can be deleted, owners take what they own along."""
        port = free_port()
        command: list[str | Path] = [
            self._program("kube-controller-manager"),
            f"--kubeconfig={self.kubeconfig}",
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
            f"--service-account-private-key-file={self._pair.key}",
            f"--root-ca-file={self._authority.pair.certificate}",
            f"--bind-address={HOST}",
            f"--secure-port={port}",
            *self._served(),
            "--leader-elect=false",
            *flags,
        ]
        return self._start("kube-controller-manager", command).until(lambda: listening(port))

    def start_kwok(self, *flags: str) -> Process:
        """Start kwok: every node becomes Ready, and pods that are bound run; those of Jobs succeed."""
        port = free_port()
        command: list[str | Path] = [
            self._program("kwok"),
            f"--kubeconfig={self.kubeconfig}",
            f"--config={self._program(STAGES)}",
            "--manage-all-nodes=true",
            f"--server-address={HOST}:{port}",
            *flags,
        ]
        home = {"HOME": str(self.folder)}  # where else it would look for a configuration of the user's
        return self._start("kwok", command, home).until(lambda: listening(port))

    def _start(self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Process:
        """Start a process that will be stopped with the rest, if nobody stops it before."""
        process = Process(name, command, self.folder / f"{name}.log", env)
        self._running = [*(it for it in self._running if it.running), process]
        return process

    def _program(self, name: str) -> Path:
        if name not in self._programs:
            raise UnavailableError(f"{name} is not there and could not be built")
        return self._programs[name]

    def _apiserver_flags(self) -> list[str]:
        return [
            f"--etcd-servers={self._etcd_url}",
            f"--bind-address={HOST}",
            f"--secure-port={self.server.rsplit(':', 1)[1]}",
            *self._served(),
            f"--client-ca-file={self._authority.pair.certificate}",
            f"--service-account-key-file={self._pair.certificate}",
            f"--service-account-signing-key-file={self._pair.key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            *([] if self._options.fairness else UNLIMITED),
            *self._audit_flags(),
            *self._options.apiserver_flags,
        ]

    def _served(self) -> list[str]:
        """What a server shows to whoever connects."""
        return [f"--tls-cert-file={self._pair.certificate}", f"--tls-private-key-file={self._pair.key}"]

    def _audit_flags(self) -> list[str]:
        if not self._options.audit:
            return []
        policy = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [{"level": self._options.audit}],
        }
        path = self.folder / "audit-policy.yaml"
        path.write_text(yaml.safe_dump(policy), "utf-8")
        return [f"--audit-policy-file={path}", f"--audit-log-path={self.audit_log}"]

    def _write_kubeconfig(self, user: str, path: Path, credentials: Mapping[str, Any]) -> Path:
        cluster = {"server": self.server, "certificate-authority": str(self._authority.pair.certificate)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "posse-test", "cluster": cluster}],
            "users": [{"name": user, "user": dict(credentials)}],
            "contexts": [{"name": "posse-test", "context": {"cluster": "posse-test", "user": user}}],
            "current-context": "posse-test",
        }
        path.write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
        return path


@contextmanager
def control_plane(
    folder: Path, options: Options = USUAL, programs: Mapping[str, Path] | None = None
) -> Iterator[ControlPlane]:
    """Run a control plane in a folder. Its programs are found or built; raises `UnavailableError` if they cannot be."""
    with sigterm_like_ctrl_c():
        plane = ControlPlane(folder, programs or find_or_build(tell), options)
        try:
            plane.start()
            yield plane
        finally:
            plane.stop()


@contextmanager
def sigterm_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM unwind us, so that what we started is stopped; unless somebody sees to the signal already."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def free_port() -> int:
    """Choose a port that nobody listens on."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as trial, suppress(OSError):
            trial.bind((HOST, port))
            return port


def listening(port: int) -> bool:
    """Whether somebody answers there."""
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False
