"""Pods out of templates: what every controller does to make one."""

from collections.abc import Mapping

from posse.kube.meta import KubeObject, Metadata, OwnerReference
from posse.kube.pods import Pod
from posse.kube.workloads import PodTemplate

NOTHING: Mapping[str, str] = {}


def controller_reference(owner: KubeObject) -> OwnerReference:
    """The reference that says: this owner looks after me."""
    meta = owner.metadata
    return OwnerReference(owner.api_version, owner.kind_name, meta.name, meta.uid, controller=True)


def pod_from(
    owner: KubeObject,
    name: str,
    template: PodTemplate,
    labels: Mapping[str, str] = NOTHING,
    annotations: Mapping[str, str] = NOTHING,
) -> Pod:
    """A pod as its owner's controller creates it: no uid yet, no node, no status."""
    meta = template.metadata
    return Pod(
        metadata=Metadata(
            name=name,
            namespace=owner.metadata.namespace,
            labels={**meta.labels, **labels},
            annotations={**meta.annotations, **annotations},
            owner_references=(controller_reference(owner),),
        ),
        spec=template.spec,
    )
