"""Containers as an API server completes them: limits stand in for requests, LimitRanges for what is not said at all."""

from collections.abc import Iterable

from msgspec import Struct, field, structs

from posse.kube.objects import LimitRange
from posse.kube.pods import Container, PodSpec, Resources
from posse.kube.quantity import Quantity

Quantities = dict[str, Quantity]


class ContainerDefaults(Struct, frozen=True, gc=False):
    """What the LimitRanges of a namespace give to a container that does not say."""

    limits: Quantities = field(default_factory=dict)
    requests: Quantities = field(default_factory=dict)

    @staticmethod
    def of(ranges: Iterable[LimitRange]) -> "ContainerDefaults":
        """The defaults of several LimitRanges; where they differ, the first by name decides."""
        limits: Quantities = {}
        requests: Quantities = {}
        for one in sorted(ranges, key=lambda one: one.metadata.name):
            for item in one.spec.limits:
                if item.type == "Container":
                    most = item.max | item.default
                    limits = most | limits
                    requests = item.min | most | item.default_request | requests
        return ContainerDefaults(limits, requests)


def with_defaults(spec: PodSpec, defaults: ContainerDefaults) -> PodSpec:
    """A pod's spec with all its containers completed."""
    containers = tuple(_completed(container, defaults) for container in spec.containers)
    first = tuple(_completed(container, defaults) for container in spec.init_containers)
    if containers == spec.containers and first == spec.init_containers:
        return spec
    return structs.replace(spec, containers=containers, init_containers=first)


def _completed(container: Container, defaults: ContainerDefaults) -> Container:
    own = container.resources
    requests = defaults.requests | own.limits | own.requests
    limits = defaults.limits | own.limits
    if requests == own.requests and limits == own.limits:
        return container
    return structs.replace(container, resources=Resources(requests=requests, limits=limits))
