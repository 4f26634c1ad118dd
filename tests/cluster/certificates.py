"""An authority, and the certificates that a control plane's server and its users show.

The names in a client's certificate are what the API server believes: the common name is the user, the organizations are
the groups. The work is done by openssl, which practically every machine has.
"""

import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.progress import UnavailableError

P256 = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
SERVER_NAMES = "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.pair = self._pair("ca")
        subject = ("-subj", "/CN=posse-test-authority", "-days", "30")
        openssl("req", "-x509", *P256, *subject, "-keyout", self.pair.key, "-out", self.pair.certificate)

    def server(self) -> Pair:
        """Sign for whoever serves on the loopback."""
        return self._sign("server", "/CN=kube-apiserver", f"{SERVER_NAMES}\nextendedKeyUsage=serverAuth\n")

    def client(self, user: str, groups: Sequence[str] = ()) -> Pair:
        """Sign for a user."""
        subject = "".join(f"/{kind}={escaped(name)}" for kind, name in [*(("O", it) for it in groups), ("CN", user)])
        return self._sign(f"client-{secrets.token_hex(4)}", subject, "extendedKeyUsage=clientAuth\n")

    def _sign(self, name: str, subject: str, extensions: str) -> Pair:
        made, request, wanted = self._pair(name), self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        wanted.write_text(extensions, "utf-8")
        openssl("req", "-new", *P256, "-subj", subject, "-keyout", made.key, "-out", request)
        signer = ("-CA", self.pair.certificate, "-CAkey", self.pair.key, "-set_serial", f"0x{secrets.token_hex(8)}")
        openssl("x509", "-req", "-in", request, *signer, "-days", "30", "-extfile", wanted, "-out", made.certificate)
        return made

    def _pair(self, name: str) -> Pair:
        return Pair(self.folder / f"{name}.crt", self.folder / f"{name}.key")


def escaped(name: str) -> str:
    """Write a name so that openssl does not take part of it for the next name."""
    return name.replace("\\", "\\\\").replace("/", "\\/").replace("+", "\\+")


def openssl(*words: str | Path) -> None:
    """Run openssl."""
    program = shutil.which("openssl")
    if not program:
        raise UnavailableError("openssl is not installed; it signs the certificates of the control plane")
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(f"openssl {words[0]} failed:\n{done.stderr}")
