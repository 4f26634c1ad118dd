"""Logging in to a real API server, and knowing that it is the one."""

import asyncio
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from posse.kube.api.access import find_access
from posse.kube.api.answers import LostError
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from tests.cluster.control_plane import ControlPlane
from tests.kube.api.fakes import Clock
from tests.kube.api.real import with_client


def test_a_server_that_is_not_the_one_is_not_talked_to(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text("utf-8"))
    (cluster,) = config["clusters"]
    stories = {"tls-server-name": "somebody.else", "certificate-authority": ""}
    for field, value in stories.items():
        changed = {**config, "clusters": [{**cluster, "cluster": {**cluster["cluster"], field: value}}]}
        (tmp_path / "config").write_text(yaml.safe_dump(changed))

        async def use(client: ApiClient) -> None:
            client._backoff = Backoff(attempts=1)
            with pytest.raises(LostError, match="certificate verify failed") as lost:
                await client.get("/version")
            assert not lost.value.sent

        with_client(control_plane, use, tmp_path / "config")


def test_another_name_of_the_server_can_be_said(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text("utf-8"))
    config["clusters"][0]["cluster"]["tls-server-name"] = "kubernetes.default.svc"
    (tmp_path / "config").write_text(yaml.safe_dump(config))

    assert b"gitVersion" in with_client(control_plane, lambda client: client.get("/version"), tmp_path / "config")


def logged_in_by(plane: ControlPlane, folder: Path, **user: Any) -> Path:
    config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = user
    (folder / "config").write_text(yaml.safe_dump(config))
    return folder / "config"


def token(plane: ControlPlane, namespace: str, name: str) -> str:
    config = yaml.safe_load(plane.service_account(namespace, name).read_text("utf-8"))
    told: str = config["users"][0]["user"]["token"]
    return told


async def who_am_i(client: ApiClient) -> str:
    body = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
    told = json.loads(await client.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", body))
    name: str = told["status"]["userInfo"]["username"]
    return name.rpartition(":")[2]


def plugin(folder: Path, **status: str) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    (folder / "credential").write_text(json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status}))
    (folder / "login").write_text(f"#!{sys.executable}\nprint(open({str(folder / 'credential')!r}).read())\n")
    (folder / "login").chmod(stat.S_IRWXU)
    return {"exec": {"apiVersion": version, "command": "./login"}}


def test_a_program_logs_us_in_by_token(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    user = plugin(tmp_path, token=token(control_plane, namespace, "ann"))

    assert with_client(control_plane, who_am_i, logged_in_by(control_plane, tmp_path, **user)) == "ann"


def test_a_program_logs_us_in_by_certificate_and_can_change_it(control_plane: ControlPlane, tmp_path: Path) -> None:
    def certificate_of(name: str) -> dict[str, str]:
        told = yaml.safe_load(control_plane.kubeconfig_for(name).read_text("utf-8"))["users"][0]["user"]
        pair = (Path(told["client-certificate"]).read_text(), Path(told["client-key"]).read_text())
        return dict(zip(("clientCertificateData", "clientKeyData"), pair, strict=True))

    async def use(client: ApiClient) -> list[str]:
        first = await who_am_i(client)
        plugin(tmp_path, **certificate_of("ben"))
        client._credentials.refused(await client._credentials.current())
        return [first, await who_am_i(client)]

    user = plugin(tmp_path, **certificate_of("ann"))
    assert with_client(control_plane, use, logged_in_by(control_plane, tmp_path, **user)) == ["ann", "ben"]


def test_a_token_that_is_replaced_in_its_file_is_taken(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    tokens = [token(control_plane, namespace, name) for name in ("ann", "ben")]
    (tmp_path / "token").write_text(tokens[0])
    clock = Clock()

    async def story() -> list[str]:
        access = find_access({}, str(logged_in_by(control_plane, tmp_path, tokenFile="token")), clock=clock)
        async with ApiClient(access) as client:
            first = await who_am_i(client)
            (tmp_path / "token").write_text(tokens[1])
            clock.now += 60
            second = await who_am_i(client)
            (tmp_path / "token").write_text("expired")
            clock.now += 60
            await access.credentials.current()
            (tmp_path / "token").write_text(tokens[0])
            return [first, second, await who_am_i(client)]

    assert asyncio.run(story()) == ["ann", "ben", "ann"]


def test_one_acts_as_somebody_else(control_plane: ControlPlane, tmp_path: Path) -> None:
    own = yaml.safe_load(control_plane.kubeconfig.read_text("utf-8"))["users"][0]["user"]

    assert with_client(control_plane, who_am_i, logged_in_by(control_plane, tmp_path, **own, **{"as": "ann"})) == "ann"
