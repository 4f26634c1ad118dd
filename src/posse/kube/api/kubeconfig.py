"""Kubeconfig files: read as kubectl reads them, several on top of each other, the first that says something winning.

Relative paths in a file are meant from where it lies. What we cannot honour (a proxy, passwords, login by plugins of
old) is refused by name rather than ignored: a client that leaves out part of how to log in looks like one without
rights.
"""

import base64
import binascii
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, field, structs

from posse.errors import InputError, Place
from posse.kube.api.credentials import Clock, Credentials, Files, Fixed, Part
from posse.kube.api.exec_plugin import ExecConfig, ExecPlugin, resolved
from posse.kube.api.server import Access, Server, contents
from posse.kube.decoding import convert, without_nulls
from posse.kube.yaml_text import documents

CLUSTER_OF_PLUGINS = "client.authentication.k8s.io/exec"
"""The extension of a cluster that is meant for credential plugins."""


class Extension(Struct, frozen=True):
    """Something that another program keeps in the file."""

    name: str
    extension: Any = None


class Cluster(Struct, frozen=True, rename="kebab"):
    """An API server."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    proxy_url: str = ""
    extensions: tuple[Extension, ...] = ()


class User(Struct, frozen=True, rename="kebab"):
    """A way to log in."""

    token: str = ""
    token_file: str = field(default="", name="tokenFile")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    exec: ExecConfig | None = None
    username: str = ""
    auth_provider: dict[str, Any] | None = None
    as_user: str = field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Context(Struct, frozen=True):
    """Who goes where."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(Struct, frozen=True):
    """An entry of `clusters`."""

    name: str
    cluster: Cluster = Cluster()


class NamedUser(Struct, frozen=True):
    """An entry of `users`."""

    name: str
    user: User = field(default_factory=User)


class NamedContext(Struct, frozen=True):
    """An entry of `contexts`."""

    name: str
    context: Context = Context()


class Kubeconfig(Struct, frozen=True, rename="kebab"):
    """A file."""

    current_context: str = ""
    clusters: tuple[NamedCluster, ...] = ()
    users: tuple[NamedUser, ...] = ()
    contexts: tuple[NamedContext, ...] = ()


class Entry(Struct, frozen=True):
    """Where something was said: the file, and the field in it."""

    file: Path
    field: str

    def at(self, name: str = "") -> Place:
        """A field of it."""
        return Place(file=str(self.file), field=f"{self.field}.{name}" if name else self.field)

    def path(self, text: str) -> Path:
        """A path as this file means it."""
        return self.file.parent / Path(text).expanduser()


EntryT = TypeVar("EntryT", NamedCluster, NamedUser, NamedContext)


def files_in(environ: Mapping[str, str], kubeconfig: str = "") -> list[Path]:
    """The files that count: the one that was named, those of KUBECONFIG, or the usual one; as far as they are there."""
    if kubeconfig:
        return [Path(kubeconfig)]
    listed = [Path(name) for name in environ.get("KUBECONFIG", "").split(":") if name]
    if listed:
        there = [file for file in listed if file.exists()]
        if not there:
            names = ", ".join(str(file) for file in listed)
            raise InputError(f"no such file: {names}", place=Place(field="KUBECONFIG"), accepted="kubeconfig files")
        return there
    usual = Path(environ.get("HOME", "/")) / ".kube" / "config"
    return [usual] if usual.exists() else []


def read_access(
    files: Sequence[Path], context: str, environ: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Access:
    """What the files say of a context, or of the current one."""
    read = [(file, _read(file)) for file in files]
    first = str(files[0])
    wanted = context or next((config.current_context for _, config in read if config.current_context), "")
    if not wanted:
        names = ", ".join(entry.name for _, config in read for entry in config.contexts)
        raise InputError(
            "is missing", place=Place(file=first, field="current-context"), accepted=names or "the name of a context"
        )
    said = Place(file=first, field="" if context else "current-context")
    found, chosen = _find(read, "contexts", wanted, said)
    at, cluster = _find(read, "clusters", chosen.context.cluster, found.at("context.cluster"))
    server = _server(Entry(at.file, f"{at.field}.cluster"), cluster.cluster)
    credentials, headers = Fixed(), ()  # type: tuple[Credentials, tuple[tuple[str, str], ...]]
    if chosen.context.user:
        of, user = _find(read, "users", chosen.context.user, found.at("context.user"))
        entry = Entry(of.file, f"{of.field}.user")
        info = _told_to_plugins(server, cluster.cluster)
        credentials = _credentials(entry, user.user, info, environ, clock, wall_clock)
        headers = _impersonation(user.user)
    return Access(server, credentials, headers, chosen.context.namespace or "default")


def _read(file: Path) -> Kubeconfig:
    place = Place(file=str(file))
    bodies = [body for _, _, body in documents(contents(file, place), str(file)) if body is not None]
    if len(bodies) > 1 or not all(isinstance(body, dict) for body in bodies):
        raise InputError("is no kubeconfig", place=place, accepted="one document with clusters, users and contexts")
    return convert(without_nulls(bodies[0]) if bodies else {}, Kubeconfig, place)


def _find(read: Sequence[tuple[Path, Kubeconfig]], part: str, name: str, said: Place) -> tuple[Entry, Any]:
    """The first entry of a name, and where it stands."""
    known = []
    for file, config in read:
        for number, entry in enumerate(getattr(config, part)):
            if entry.name == name:
                return Entry(file, f"{part}[{number}]"), entry
            known.append(entry.name)
    accepted = ", ".join(known) or f"an entry of {part}"
    raise InputError(f"there is no {part.removesuffix('s')} {name!r}", place=said, accepted=accepted)


def _server(entry: Entry, cluster: Cluster) -> Server:
    if cluster.proxy_url:
        raise InputError("is not supported", place=entry.at("proxy-url"), accepted="a server that is reached directly")
    if not _is_url(cluster.server):
        raise InputError(f"{cluster.server!r} is no URL", place=entry.at("server"), accepted="https://host:port")
    authority = _bytes(
        entry, "certificate-authority", cluster.certificate_authority, cluster.certificate_authority_data
    )
    pem = authority.read()
    if pem and cluster.insecure_skip_tls_verify:
        raise InputError(
            "contradicts the certificate authority beside it",
            place=entry.at("insecure-skip-tls-verify"),
            accepted="one of the two",
        )
    if pem:
        _check_authority(pem, authority.place)
    url = cluster.server.rstrip("/")
    return Server(url, pem, cluster.tls_server_name, not cluster.insecure_skip_tls_verify)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:  # what stands for the port is none
        return False


def _check_authority(pem: bytes, place: Place) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=pem.decode("ascii"))
    except (ssl.SSLError, ValueError) as fault:
        raise InputError(f"holds no certificate: {fault}", place=place, accepted="PEM") from None


def _bytes(entry: Entry, name: str, file: str, data: str) -> Part:
    """Something that stands in the file itself, in base64, or in another file."""
    if data:
        place = entry.at(f"{name}-data")
        try:
            return Part(given=base64.b64decode(data, validate=True), place=place)
        except (binascii.Error, ValueError):
            raise InputError("is no base64", place=place, accepted="base64 of PEM") from None
    return Part(file=entry.path(file) if file else None, place=entry.at(name))


def _credentials(
    entry: Entry,
    user: User,
    info: Mapping[str, Any],
    environ: Mapping[str, str],
    clock: Clock,
    wall_clock: Clock,
) -> Credentials:
    accepted = "token, tokenFile, a client certificate, or exec"
    for name, given in (("auth-provider", user.auth_provider), ("username", user.username)):
        if given:
            raise InputError("is not supported", place=entry.at(name), accepted=accepted)
    certificate = _bytes(entry, "client-certificate", user.client_certificate, user.client_certificate_data)
    key = _bytes(entry, "client-key", user.client_key, user.client_key_data)
    if bool(certificate.given or certificate.file) != bool(key.given or key.file):
        missing = "client-key" if certificate.given or certificate.file else "client-certificate"
        raise InputError("is missing", place=entry.at(missing), accepted="a certificate and its key")
    if user.exec is None:
        return Files(_token(entry, user), certificate, key, clock)
    if user.token or user.token_file or certificate.given or certificate.file:
        raise InputError("is not the only way to log in", place=entry.at("exec"), accepted=f"one of {accepted}")
    return _plugin(entry, user.exec, info, environ, wall_clock)


def _token(entry: Entry, user: User) -> Part:
    """A file of tokens outdoes a token, as it does for kubectl."""
    if user.token_file:
        return Part(file=entry.path(user.token_file), place=entry.at("tokenFile"))
    return Part(given=user.token.encode(), place=entry.at("token"))


def _plugin(
    entry: Entry, config: ExecConfig, info: Mapping[str, Any], environ: Mapping[str, str], wall_clock: Clock
) -> ExecPlugin:
    if config.interactive_mode == "Always":
        raise InputError(
            "nobody is there to answer", place=entry.at("exec.interactiveMode"), accepted="Never, IfAvailable"
        )
    config = structs.replace(config, command=resolved(config.command, entry.file.parent.absolute()))
    told = info if config.provide_cluster_info else None
    return ExecPlugin(config, entry.at("exec"), told, wall_clock, environ)


def _told_to_plugins(server: Server, cluster: Cluster) -> Mapping[str, Any]:
    """What a plugin may want to know of the server it gives credentials for."""
    config = next((it.extension for it in cluster.extensions if it.name == CLUSTER_OF_PLUGINS), None)
    told = {
        "server": server.url,
        "tls-server-name": server.tls_name,
        "insecure-skip-tls-verify": not server.verified,
        "certificate-authority-data": base64.b64encode(server.authority).decode(),
        "config": config,
    }
    return {name: value for name, value in told.items() if value}


def _impersonation(user: User) -> tuple[tuple[str, str], ...]:
    headers = [("Impersonate-User", user.as_user), ("Impersonate-Uid", user.as_uid)]
    headers += [("Impersonate-Group", group) for group in user.as_groups]
    headers += [(f"Impersonate-Extra-{key}", value) for key, values in user.as_user_extra.items() for value in values]
    return tuple((name, value) for name, value in headers if value)
