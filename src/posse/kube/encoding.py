"""From typed objects back to manifests: what we read of them, and nothing made up."""

from typing import Any

import msgspec

from posse.kube.meta import KubeObject


def manifest_of(thing: KubeObject) -> dict[str, Any]:
    """The object as a manifest, defaults left out."""
    body: dict[str, Any] = msgspec.to_builtins(thing)
    return {"apiVersion": thing.api_version, "kind": thing.kind_name, "metadata": body.get("metadata", {}), **body}
