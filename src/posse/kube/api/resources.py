"""Where the API keeps each kind: group, version and plural, and the paths made of them."""

from urllib.parse import quote

import msgspec
from msgspec import Struct

from posse.kube.api.answers import ApiError
from posse.kube.api.client import ApiClient
from posse.kube.meta import KubeObject

NOT_FOUND = 404


class Resource(Struct, frozen=True):
    """A collection of objects of one kind."""

    api_version: str
    plural: str
    namespaced: bool
    kind: type[KubeObject]

    @property
    def group_path(self) -> str:
        """Where its API group and version is."""
        return f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Where an object is, or a part of it; without a name the collection; without a namespace that of them all."""
        if name and self.namespaced and not namespace:
            raise ValueError(f"a {self.kind.KIND} lies in a namespace, and {name!r} is without one")
        inside = f"/namespaces/{quote(namespace, safe='')}" if namespace and self.namespaced else ""
        rest = [quote(part, safe="") for part in (name, subresource) if part]
        return "/".join((f"{self.group_path}{inside}/{self.plural}", *rest))


def resource_of(kind: type[KubeObject], api_version: str = "") -> Resource:
    """The collection of a kind, in the version that we read, or in another one."""
    return Resource(api_version or kind.API_VERSION, plural_of(kind.KIND), kind.NAMESPACED, kind)


def plural_of(kind: str) -> str:
    """A kind's plural, by the rule that Kubernetes' own tools follow. No kind that we read is an exception."""
    single = kind.lower()
    if single.endswith("s"):
        return f"{single}es"
    return f"{single.removesuffix('y')}ies" if single.endswith("y") else f"{single}s"


class _Served(Struct, frozen=True):
    name: str


class _ServedList(Struct, frozen=True):
    resources: tuple[_Served, ...] = ()


async def is_served(client: ApiClient, resource: Resource) -> bool:
    """Whether the server has such a collection: a CRD may not be installed."""
    try:
        answer = await client.get(resource.group_path)
    except ApiError as refusal:
        if refusal.status == NOT_FOUND:
            return False
        raise
    return any(it.name == resource.plural for it in msgspec.json.decode(answer, type=_ServedList).resources)
