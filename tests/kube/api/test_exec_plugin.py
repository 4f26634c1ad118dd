"""Credentials from a program: run when need be, told what it may want to know, and explained when it fails."""

import asyncio
import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from posse.kube.api.access import Access, find_access
from posse.kube.api.credentials import CredentialError
from posse.kube.meta import instant
from tests.kube.api.fakes import Clock

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
NOW = instant("2026-01-01T00:00:00Z") / 1e9


def plugin(folder: Path, printed: str, code: int = 0) -> Path:
    """A program that prints something, with {run} for how often it ran, and notes what it was told."""
    program = folder / "login"
    program.write_text(
        f"""#!{sys.executable}
import os, sys
runs = open({str(folder / "runs")!r}, "a+"); runs.write("x"); runs.flush(); runs.seek(0)
told = [os.environ["KUBERNETES_EXEC_INFO"], os.environ.get("WHO", ""), " ".join(sys.argv[1:])]
open({str(folder / "told")!r}, "w").write("|".join(told))
print({printed!r}.replace("RUN", str(len(runs.read()))))
print("no such account", file=sys.stderr)
sys.exit({code})
"""
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def printed(version: str = V1, **status: Any) -> str:
    return json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})


def access(folder: Path, clock: Clock | None = None, **more: Any) -> Access:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "https://one", "extensions": more.pop("extensions", [])}}],
        "users": [{"name": "u", "user": {"exec": {"command": "./login", "apiVersion": V1, **more}}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (folder / "config").write_text(yaml.safe_dump(config))
    return find_access({"PATH": "/usr/bin:/bin"}, str(folder / "config"), wall_clock=clock or Clock(NOW))


def tokens(access: Access, times: int = 1) -> Iterator[str]:
    async def all_of_them() -> list[str]:
        return [(await access.credentials.current()).token for _ in range(times)]

    yield from asyncio.run(all_of_them())


@pytest.mark.parametrize("version", [V1, V1BETA1])
def test_a_program_gives_a_token(tmp_path: Path, version: str) -> None:
    plugin(tmp_path, printed(version, token="token-RUN"))

    assert list(tokens(access(tmp_path, apiVersion=version), 3)) == ["token-1"] * 3


def test_a_program_gives_a_certificate(tmp_path: Path) -> None:
    plugin(tmp_path, printed(clientCertificateData="CERT", clientKeyData="KEY"))
    credential = asyncio.run(access(tmp_path).credentials.current())

    assert (credential.certificate, credential.key) == (b"CERT", b"KEY")


def test_it_runs_again_when_what_it_gave_expires(tmp_path: Path) -> None:
    clock = Clock(NOW)
    plugin(tmp_path, printed(token="token-RUN", expirationTimestamp="2026-01-01T01:00:00Z"))

    async def story() -> list[str]:
        credentials = access(tmp_path, clock).credentials
        given = []
        for wait in (0, 3000, 590, 6):
            clock.now += wait
            given.append((await credentials.current()).token)
        return given

    assert asyncio.run(story()) == ["token-1", "token-1", "token-1", "token-2"]


def test_it_runs_again_when_what_it_gave_is_refused(tmp_path: Path) -> None:
    plugin(tmp_path, printed(token="token-RUN"))

    async def story() -> list[str]:
        credentials = access(tmp_path).credentials
        first = await credentials.current()
        assert credentials.refused(first)
        second = await credentials.current()
        assert credentials.refused(first)  # told late: that has been seen to
        return [first.token, second.token, (await credentials.current()).token]

    assert asyncio.run(story()) == ["token-1", "token-2", "token-2"]


def test_it_never_runs_twice_at_a_time(tmp_path: Path) -> None:
    plugin(tmp_path, printed(token="token-RUN"))

    async def story() -> set[str]:
        credentials = access(tmp_path).credentials
        return {it.token for it in await asyncio.gather(*(credentials.current() for _ in range(20)))}

    assert asyncio.run(story()) == {"token-1"}


def test_it_is_told_what_it_may_want_to_know(tmp_path: Path) -> None:
    plugin(tmp_path, printed(token="t"))
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    words = {"args": ["--for", "me"], "env": [{"name": "WHO", "value": "ann"}]}
    list(tokens(access(tmp_path, **words, provideClusterInfo=True, extensions=[extension])))
    info, who, given = (tmp_path / "told").read_text().split("|")

    assert (who, given) == ("ann", "--for me")
    assert json.loads(info) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://one", "config": {"audience": "x"}}},
    }


@pytest.mark.parametrize(
    ("output", "code", "told"),
    [
        ("", 3, "login failed with 3: no such account"),
        ("hello", 0, "login printed no JSON"),
        ("{}", 0, "login printed no ExecCredential"),
        (printed(), 0, "login gave neither a token nor a certificate"),
        (printed(clientKeyData="x"), 0, "login gave half a pair of certificate and key"),
        (printed(V1BETA1, token="t"), 0, f"login printed {V1BETA1}, not {V1}"),
        (printed(token="t", expirationTimestamp="tomorrow"), 0, "an expirationTimestamp that is none"),
        (printed(token="two\nlines"), 0, "characters that no token has"),
    ],
)
def test_what_goes_wrong_is_explained(tmp_path: Path, output: str, code: int, told: str) -> None:
    plugin(tmp_path, output, code)
    with pytest.raises(CredentialError) as caught:
        list(tokens(access(tmp_path)))

    assert told in str(caught.value)


def test_a_program_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(CredentialError) as caught:
        list(tokens(access(tmp_path, command="kubelogin", installHint="brew install kubelogin")))

    assert str(caught.value) == (
        f"{tmp_path / 'config'}, users[0].user.exec: kubelogin is not there (accepted: brew install kubelogin)"
    )
