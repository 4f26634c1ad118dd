"""Plain https to an API server: JSON there, JSON back.

For tests that set a stage or look at what came of it, and that must not do so through the code they test.
"""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml


class RefusedError(Exception):
    """The server's answer is not what was asked for."""

    def __init__(self, code: int, status: dict[str, Any]) -> None:
        super().__init__(f"{code} {status.get('reason', '')}: {status.get('message', status)}")
        self.code = code
        self.status = status


class Client:
    """One user's connection, opened for each request. What it can do, its user may do."""

    def __init__(self, kubeconfig: Path, timeout: float = 30.0) -> None:
        self._timeout = timeout
        config = yaml.safe_load(kubeconfig.read_text("utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._host = urlsplit(cluster["server"]).netloc
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        if "client-certificate" in user:
            self._tls.load_cert_chain(user["client-certificate"], user["client-key"])
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}

    def get(self, path: str) -> dict[str, Any]:
        """Read an object or a list."""
        return self.request("GET", path)

    def create(self, path: str, given: dict[str, Any]) -> dict[str, Any]:
        """Create an object under a collection, or a subresource such as `binding`."""
        return self.request("POST", path, given)

    def delete(self, path: str) -> dict[str, Any]:
        """Delete an object, or all that a collection holds."""
        return self.request("DELETE", path)

    def request(self, method: str, path: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask, and give the answer. Raises `RefusedError` with the server's status."""
        code, text = self.text(method, path, given)
        told: dict[str, Any] = json.loads(text) if text.startswith("{") else {"message": text}
        if code >= http.client.BAD_REQUEST:
            raise RefusedError(code, told)
        return told

    def text(self, method: str, path: str, given: dict[str, Any] | None = None) -> tuple[int, str]:
        """Ask, and give code and text as they come."""
        connection = http.client.HTTPSConnection(self._host, context=self._tls, timeout=self._timeout)
        headers = self._headers | ({"Content-Type": "application/json"} if given is not None else {})
        try:
            connection.request(method, path, json.dumps(given) if given is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()
