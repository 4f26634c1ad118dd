"""The definitions that come with Posse, as they are written and as the API server takes them."""

from importlib.resources import files
from typing import Any

from msgspec import Struct

from posse.kube.api.resources import Resource
from posse.kube.meta import KubeObject
from posse.kube.yaml_text import documents

KINDS = ("podgroups", "queues", "jobs", "hypernodes", "commands")
"""In the order in which people meet them."""

MANAGED_BY = "app.kubernetes.io/managed-by"
US = "posse"


class Definition(Struct, frozen=True):
    """The definition of one kind: its text, and the same as a value. `version` is the one that we read."""

    name: str
    version: str
    text: str
    body: dict[str, Any]

    @property
    def resource(self) -> Resource:
        """Where the objects are, once the kind is known."""
        plural, _, group = self.name.partition(".")
        return Resource(f"{group}/{self.version}", plural, self.body["spec"]["scope"] == "Namespaced", KubeObject)


def definitions() -> tuple[Definition, ...]:
    """Read the definitions."""
    return tuple(_read(kind) for kind in KINDS)


def _read(kind: str) -> Definition:
    text = files("posse.kube.crds").joinpath(f"{kind}.yaml").read_text(encoding="utf-8")
    ((_, _, body),) = documents(text.encode(), f"{kind}.yaml")
    return Definition(body["metadata"]["name"], body["spec"]["versions"][0]["name"], text, body)


def as_manifests() -> str:
    """Write all of them as one file, for `kubectl apply -f -`."""
    return "---\n".join(definition.text for definition in definitions())
