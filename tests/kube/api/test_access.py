"""Where and as whom: read as kubectl reads it, and told by file and field where it cannot be."""

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from posse.errors import InputError
from posse.kube.api.access import Access, access_in_pod, find_access
from posse.kube.api.credentials import Credential
from tests.cluster.certificates import Authority
from tests.kube.api.fakes import Clock


def written(path: Path, **parts: Any) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://one:6443"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(config | parts), "utf-8")
    return path


def credential(access: Access) -> Credential:
    return asyncio.run(access.credentials.current())


def with_user(path: Path, **user: Any) -> Path:
    return written(path, users=[{"name": "u", "user": user}])


def with_cluster(path: Path, **cluster: Any) -> Path:
    return written(path, clusters=[{"name": "c", "cluster": {"server": "https://one:6443", **cluster}}])


def refusal(file: Path, environ: Mapping[str, str] | None = None, context: str = "") -> InputError:
    with pytest.raises(InputError) as caught:
        credential(find_access(environ or {}, str(file), context))
    return caught.value


def test_the_current_context_says_where_and_as_whom(tmp_path: Path) -> None:
    access = find_access({}, str(written(tmp_path / "config")))

    assert access.server.url == "https://one:6443"
    assert access.namespace == "team"
    assert credential(access).token == "t"


def test_another_context_can_be_named(tmp_path: Path) -> None:
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u", "namespace": name}} for name in ("x", "y")]
    file = written(tmp_path / "config", contexts=contexts)

    assert find_access({}, str(file), "y").namespace == "y"
    assert str(refusal(file, context="z")) == f"{file}: there is no context 'z' (accepted: x, y)"


def test_files_lie_on_top_of_each_other_and_the_first_wins(tmp_path: Path) -> None:
    first = written(tmp_path / "a", users=[], **{"current-context": ""})
    second = written(tmp_path / "b", clusters=[{"name": "c", "cluster": {"server": "https://two"}}])
    environ = {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"}
    access = find_access(environ)

    assert access.server.url == "https://one:6443"
    assert credential(access).token == "t"


def test_the_usual_file_is_the_last_resort_before_the_pod(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    written(tmp_path / ".kube" / "config")

    assert find_access({"HOME": str(tmp_path)}).server.url == "https://one:6443"


def test_nowhere_to_go_says_what_can_be_done(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing says where the API server is .accepted: --kubeconfig"):
        find_access({"HOME": str(tmp_path)})


def test_files_that_are_named_must_be_there(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in str(refusal(tmp_path / "none"))
    with pytest.raises(InputError, match="KUBECONFIG: no such file"):
        find_access({"KUBECONFIG": str(tmp_path / "none")})


def test_paths_are_meant_from_where_the_file_lies(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    pair = authority.client("ann")
    shown = {"client-certificate": f"pki/{pair.certificate.name}", "client-key": str(pair.key)}
    file = written(
        tmp_path / "config",
        clusters=[{"name": "c", "cluster": {"server": "https://one", "certificate-authority": "pki/ca.crt"}}],
        users=[{"name": "u", "user": shown}],
    )
    access = find_access({}, str(file))

    assert access.server.authority == authority.pair.certificate.read_bytes()
    assert credential(access) == Credential("", pair.certificate.read_bytes(), pair.key.read_bytes())


def test_what_stands_in_the_file_itself_is_base64(tmp_path: Path) -> None:
    pem = Authority(tmp_path / "pki").pair.certificate.read_bytes()
    access = find_access(
        {}, str(with_cluster(tmp_path / "a", **{"certificate-authority-data": base64.b64encode(pem).decode()}))
    )

    assert access.server.authority == pem


def test_how_a_server_is_known_can_be_said(tmp_path: Path) -> None:
    more = {"tls-server-name": "api.internal", "insecure-skip-tls-verify": True}
    server = find_access({}, str(with_cluster(tmp_path / "config", **more))).server

    assert server.tls_name == "api.internal"
    assert not server.verified


def test_one_can_act_as_somebody_else(tmp_path: Path) -> None:
    user = {"token": "t", "as": "ann", "as-groups": ["a", "b"], "as-user-extra": {"why": ["test"]}}

    assert find_access({}, str(with_user(tmp_path / "config", **user))).headers == (
        ("Impersonate-User", "ann"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-why", "test"),
    )


@pytest.mark.parametrize(
    ("cluster", "told"),
    [
        ({"proxy-url": "http://proxy"}, "clusters[0].cluster.proxy-url: is not supported"),
        ({"server": "one:6443"}, "clusters[0].cluster.server: 'one:6443' is no URL"),
        ({"server": "https://one:port"}, "clusters[0].cluster.server: 'https://one:port' is no URL"),
        ({"certificate-authority": "none"}, "clusters[0].cluster.certificate-authority: "),
        ({"certificate-authority-data": "%"}, "clusters[0].cluster.certificate-authority-data: is no base64"),
        ({"certificate-authority-data": "bm9uZQ=="}, "certificate-authority-data: holds no certificate"),
        ({"insecure-skip-tls-verify": "yes please"}, "clusters[0].cluster.insecure-skip-tls-verify: expected bool"),
    ],
)
def test_clusters_that_cannot_be_used_are_told_by_field(tmp_path: Path, cluster: Any, told: str) -> None:
    fault = str(refusal(with_cluster(tmp_path / "config", **cluster)))

    assert fault.startswith(str(tmp_path / "config"))
    assert told in fault
    assert "(accepted: " in fault


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ({"username": "ann", "password": "x"}, "users[0].user.username: is not supported"),
        ({"auth-provider": {"name": "gcp"}}, "users[0].user.auth-provider: is not supported"),
        ({"client-key-data": "bm9uZQ=="}, "users[0].user.client-certificate: is missing"),
        ({"tokenFile": "none"}, "users[0].user.tokenFile: "),
        ({"token": "with space"}, "a token holds characters that no token has"),
        ({"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"}}, "exec.apiVersion: "),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, "exec.command: is missing"),
        (
            {"token": "t", "exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1"}},
            "users[0].user.exec: is not the only way to log in",
        ),
        (
            {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Always"}},
            "exec.interactiveMode: nobody is there to answer",
        ),
    ],
)
def test_users_that_cannot_log_in_are_told_by_field(tmp_path: Path, user: Any, told: str) -> None:
    fault = str(refusal(with_user(tmp_path / "config", **user)))

    assert told in fault
    assert "(accepted: " in fault


def test_what_is_no_kubeconfig_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config"
    for text in ("[1]", "a: 1\n---\nb: 2", "clusters: {", "clusters: 7"):
        file.write_text(text)
        assert str(file) in str(refusal(file))


def pod_folder(folder: Path) -> Path:
    (folder / "ca.crt").write_bytes(Authority(folder / "pki").pair.certificate.read_bytes())
    (folder / "token").write_text("first\n")
    (folder / "namespace").write_text("posse-system")
    return folder


@pytest.mark.parametrize(("host", "url"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")])
def test_a_pod_knows_its_server(tmp_path: Path, host: str, url: str) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443", "HOME": str(tmp_path)}
    access = find_access(environ, pod=pod_folder(tmp_path))

    assert access.server.url == url
    assert access.namespace == "posse-system"
    assert credential(access).token == "first"


def test_a_pod_reads_its_token_again(tmp_path: Path) -> None:
    clock = Clock()
    access = access_in_pod({"KUBERNETES_SERVICE_HOST": "h"}, pod_folder(tmp_path), clock)
    first = credential(access)
    (tmp_path / "token").write_text("second")

    assert credential(access).token == "first"
    clock.now += 60
    assert credential(access).token == "second"
    assert not access.credentials.refused(credential(access))
    (tmp_path / "token").write_text("third")
    assert access.credentials.refused(first)
    assert credential(access).token == "third"


def test_a_token_that_is_being_replaced_is_believed_for_longer(tmp_path: Path) -> None:
    clock = Clock()
    access = access_in_pod({"KUBERNETES_SERVICE_HOST": "h"}, pod_folder(tmp_path), clock)
    credential(access)
    (tmp_path / "token").unlink()
    clock.now += 60

    assert credential(access).token == "first"


def test_secrets_are_not_printed(tmp_path: Path) -> None:
    access = find_access({}, str(with_user(tmp_path / "config", token="very-secret")))

    assert "very-secret" not in repr(access)
    assert "very-secret" not in repr(credential(access))
