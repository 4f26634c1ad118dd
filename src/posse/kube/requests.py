"""What a pod asks for: one amount per resource, from its containers, sidecars, init containers, overhead and status.

Containers run together, so they add up; init containers run one after the other, each beside the sidecars started
before it, so the largest moment counts; the runtime's overhead comes on top. Amounts that a pod states for itself as a
whole override the sum. A pod that is being resized in place holds the most of what it wants, has, and was set aside
for it. A container that only has a limit asks for its limit.

Scores count a container that asks for no cpu or memory as a little, so that pods without requests spread as well.
"""

from collections.abc import Callable, Iterable, Mapping

from posse.kube.pods import Container, ContainerStatus, Pod, Resources
from posse.kube.quantity import amounts, countable

Totals = dict[str, int]

SCORED_WITHOUT_REQUEST: Mapping[str, int] = {"cpu": 100, "memory": 200 * 2**20}
"""What a container counts for in scores where it asks for nothing."""


def pod_requests(pod: Pod) -> Totals:
    """Add up what the pod takes on its node, without the pod itself. Zeros are left out."""
    total = _requests(pod, _asked_of(pod))
    return {resource: value for resource, value in total.items() if value}


def scored_requests(pod: Pod) -> tuple[int, int]:
    """Add up what the pod counts for in scores: cpu and memory."""
    asked = _asked_of(pod)
    least = dict(SCORED_WITHOUT_REQUEST)
    if pod.spec.resources.requests or pod.spec.resources.limits:
        total = _requests(pod, asked)
        least = {name: value for name, value in least.items() if not total.get(name)}
    total = _requests(pod, lambda container, field: least | asked(container, field))
    return total.get("cpu", 0), total.get("memory", 0)


def pod_limits(pod: Pod) -> Totals:
    """Add up what the pod may use at most, as far as it says. Overhead comes on top of what is limited."""
    owner, spec = str(pod), pod.spec
    total = _at_the_same_time(pod, lambda one, field: amounts(one.resources.limits, owner, f"{field}.limits"))
    total |= _of_pods(amounts(spec.resources.limits, owner, "spec.resources.limits"))
    overhead = amounts(spec.overhead, owner, "spec.overhead")
    _add(total, {name: value for name, value in overhead.items() if name in total})
    return total


def effective(resources: Resources, owner: str, field: str) -> Totals:
    """Requests, with limits standing in where there is no request."""
    requests = amounts(resources.requests, owner, f"{field}.requests")
    if resources.limits:
        requests = amounts(resources.limits, owner, f"{field}.limits") | requests
    return requests


Asked = Callable[[Container, str], Totals]
"""What one container asks for, and the field it says so in."""


def _requests(pod: Pod, asked: Asked) -> Totals:
    spec = pod.spec
    if not spec.init_containers and len(spec.containers) == 1:
        total = dict(asked(spec.containers[0], "spec.containers[0].resources"))
    else:
        total = _at_the_same_time(pod, asked)
    if spec.resources.requests or spec.resources.limits:
        total |= _stated(pod)
    if spec.overhead:
        _add(total, amounts(spec.overhead, str(pod), "spec.overhead"))
    countable(total, str(pod), "spec.containers")
    return total


def _at_the_same_time(pod: Pod, asked: Asked) -> Totals:
    """The most that runs at once: all containers and sidecars, or one init container beside the sidecars before it."""
    running: Totals = {}
    for number, container in enumerate(pod.spec.containers):
        _add(running, asked(container, f"spec.containers[{number}].resources"))
    sidecars: Totals = {}
    starting: Totals = {}
    for number, container in enumerate(pod.spec.init_containers):
        own = asked(container, f"spec.initContainers[{number}].resources")
        if container.is_sidecar:
            _add(sidecars, own)
            _raise_to(starting, sidecars)
        else:
            moment = dict(sidecars)
            _add(moment, own)
            _raise_to(starting, moment)
    _add(running, sidecars)
    _raise_to(running, starting)
    return running


def _asked_of(pod: Pod) -> Asked:
    """How to ask a container: by its spec, or by its status as well once it has one that tells resources."""
    status, spec = pod.status, pod.spec
    states = {state.name: state for state in status.container_statuses if state.resources is not None}
    if spec.init_containers:
        sidecars = {container.name for container in spec.init_containers if container.is_sidecar}
        states |= {
            state.name: state
            for state in status.init_container_statuses
            if state.resources is not None and state.name in sidecars
        }
    owner = str(pod)
    if not states:
        return lambda container, field: effective(container.resources, owner, field)
    refused = _resize_is_infeasible(pod)

    def with_status(container: Container, field: str) -> Totals:
        wanted = effective(container.resources, owner, field)
        state = states.get(container.name)
        return wanted if state is None else _while_resizing({} if refused else wanted, state, owner)

    return with_status


def _while_resizing(wanted: Totals, state: ContainerStatus, owner: str) -> Totals:
    most = dict(wanted)
    given = state.resources.requests if state.resources else {}
    _raise_to(most, amounts(given, owner, f"status.containerStatuses[{state.name}].resources.requests"))
    where = f"status.containerStatuses[{state.name}].allocatedResources"
    _raise_to(most, amounts(state.allocated_resources, owner, where))
    return most


def _resize_is_infeasible(pod: Pod) -> bool:
    """A resize that the node refused does not count as wanted."""
    pending = pod.condition("PodResizePending")
    return pod.status.resize == "Infeasible" or (pending is not None and pending.reason == "Infeasible")


def _stated(pod: Pod) -> Totals:
    """What the pod asks for as a whole. A limit stands in for a request only where no container asks either."""
    owner, resources = str(pod), pod.spec.resources
    stated = amounts(resources.requests, owner, "spec.resources.requests")
    for name, value in amounts(resources.limits, owner, "spec.resources.limits").items():
        if name not in stated and not _some_container_asks(pod, name):
            stated[name] = value
    return _of_pods(stated)


def _of_pods(amounts_stated: Totals) -> Totals:
    """Those that may be stated for a pod as a whole."""
    return {
        name: value
        for name, value in amounts_stated.items()
        if name in ("cpu", "memory") or name.startswith("hugepages-")
    }


def _some_container_asks(pod: Pod, resource: str) -> bool:
    spec = pod.spec
    return any(resource in c.resources.requests | c.resources.limits for c in (*spec.containers, *spec.init_containers))


def _add(total: Totals, more: Mapping[str, int]) -> None:
    for resource, value in more.items():
        total[resource] = total.get(resource, 0) + value


def _raise_to(total: Totals, other: Mapping[str, int]) -> None:
    for resource, value in other.items():
        if value > total.get(resource, 0):
            total[resource] = value


def sum_of(parts: Iterable[Mapping[str, int]]) -> Totals:
    """Add up resource lists."""
    total: Totals = {}
    for part in parts:
        _add(total, part)
    return total
