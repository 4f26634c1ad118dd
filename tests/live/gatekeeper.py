"""A gatekeeper: admission asks it before each bind, so a test can do something between a decision and its bind.

    def story(bind: Asked) -> str:
        if bind.pod == "a-3":
            plane.client.delete(f"/api/v1/nodes/{bind.node}")
        return ""                                             # or why not

    gatekeeper.asks(story)

Stories are told one at a time, in the order in which binds arrive; each bind waits for its own. Who asked for what is
written down.
"""

import base64
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from tests.cluster.client import RefusedError
from tests.cluster.control_plane import HOST, ControlPlane
from tests.cluster.waiting import comes_true

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
TRIAL = "is-anybody-there"
"""A pod that nobody has, bound for a trial."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A bind that somebody asks for."""

    pod: str
    node: str
    user: str


Story = Callable[[Asked], str]
"""Happens before a bind. Says why it is refused, if it is."""


class Gatekeeper:
    """Is asked before each bind in a namespace. Made by `gatekeeping`."""

    def __init__(self) -> None:
        self.binds: list[Asked] = []
        """What was asked for, in order."""
        self.is_known = False
        self._story: Story = lambda _: ""
        self._lock = Lock()

    def asks(self, story: Story) -> None:
        """Have a story told from now on."""
        self._story = story

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Let the story say whether a bind may be."""
        bind = Asked(request["name"], request["object"]["target"]["name"], request["userInfo"]["username"])
        if bind.pod == TRIAL:
            self.is_known = True
            return {"uid": request["uid"], "allowed": True}
        with self._lock:
            self.binds.append(bind)
            refusal = self._story(bind)
        return {"uid": request["uid"], "allowed": not refusal, "status": {"message": refusal}}


@contextmanager
def gatekeeping(plane: ControlPlane, namespace: str) -> Iterator[Gatekeeper]:
    """Ask a gatekeeper before each bind in a namespace."""
    keeper = Gatekeeper()
    server = _server(plane, keeper)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        plane.client.create(HOOKS, _hook(plane, namespace, server.server_port))
        assert comes_true(lambda: _is_asked(plane, namespace, keeper))
        yield keeper
    finally:
        plane.client.delete(f"{HOOKS}/{namespace}")
        server.shutdown()
        thread.join()
        server.server_close()


def _is_asked(plane: ControlPlane, namespace: str, keeper: Gatekeeper) -> bool:
    trial = {"metadata": {"name": TRIAL}, "target": {"kind": "Node", "name": "none"}}
    try:
        plane.client.create(f"/api/v1/namespaces/{namespace}/pods/{TRIAL}/binding?dryRun=All", trial)
    except RefusedError:
        return keeper.is_known
    return False


def _hook(plane: ControlPlane, namespace: str, port: int) -> dict[str, Any]:
    authority = base64.b64encode(plane._authority.pair.certificate.read_bytes()).decode()
    return {
        "metadata": {"name": namespace},
        "webhooks": [
            {
                "name": "binds.gatekeeper.test",
                "clientConfig": {"url": f"https://{HOST}:{port}/", "caBundle": authority},
                "rules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
                ],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": 30,
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


def _server(plane: ControlPlane, keeper: Gatekeeper) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            if len(asked := self.rfile.read(length)) < length:
                return
            review = json.loads(asked)
            answer = {key: review[key] for key in ("apiVersion", "kind")}
            body = json.dumps({**answer, "response": keeper.answer(review["request"])}).encode()
            with suppress(OSError):  # who asked may have been killed, and nobody waits for the answer
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    server.daemon_threads = True
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(plane._pair.certificate, plane._pair.key)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    return server
