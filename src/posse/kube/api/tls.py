"""TLS as an API server speaks it: its authority, its name, and our certificate."""

import ssl
import tempfile
from pathlib import Path

from posse.errors import InputError
from posse.kube.api.credentials import Credential, CredentialError
from posse.kube.api.server import Server


def tls_context(server: Server, credential: Credential) -> ssl.SSLContext:
    """Set up TLS for a server, with the certificate of a credential if it has one."""
    try:
        authority = server.authority.decode("ascii") or None
        context = ssl.create_default_context(cadata=authority)
    except (ssl.SSLError, ValueError) as fault:
        raise InputError(f"the certificate authority of {server.url} is no PEM: {fault}") from None
    # Authorities of clusters often leave out what this asks for, and Go, which everyone else here uses, does not mind.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
    if not server.verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if credential.certificate:
        _show(context, credential)
    return context


def _show(context: ssl.SSLContext, credential: Credential) -> None:
    """Load certificate and key. Python takes them from files only, so they lie in one for a moment."""
    with tempfile.TemporaryDirectory(prefix="posse-") as folder:  # readable by us alone
        pair = Path(folder) / "pair.pem"
        pair.write_bytes(credential.certificate + b"\n" + credential.key)
        try:
            context.load_cert_chain(pair, password="")
        except (ssl.SSLError, OSError) as fault:
            raise CredentialError(
                f"the client certificate does not go with its key: {fault}", accepted="PEM, a key without a password"
            ) from None
