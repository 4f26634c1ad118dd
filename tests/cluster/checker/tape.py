"""Streams of events made up for tests: a store that counts revisions, a clock that is wound by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.cluster.checker.events import Event, Kind, Object, Type, mark

OURS = "posse"


class Tape:
    """A cluster that does what it is told, right or wrong, and what a watch would have told of it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.events: list[Event] = []
        self._objects: dict[tuple[Kind, str], Object] = {}
        self._revision = 100

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def node(self, name: str, cpu: str = "4", labels: Mapping[str, str] | None = None, **spec: Any) -> None:
        """Add a node, or change it."""
        node = {"spec": spec, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}}
        self.put(Kind.NODE, name, node, labels=labels or {})

    def gang(self, name: str, minimum: int, *pods: str, **spec: Any) -> None:
        """Add a PodGroup, or change it, and pods of it."""
        self.put(Kind.POD_GROUP, name, {"spec": {"minMember": minimum}})
        for pod in pods:
            self.pod(pod, gang=name, **spec)

    def pod(self, name: str, gang: str = "", cpu: str = "1", scheduler: str = OURS, **spec: Any) -> None:
        """Add a pod."""
        container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
        annotations = {"scheduling.k8s.io/group-name": gang} if gang else {}
        pod = {"spec": {"schedulerName": scheduler, "containers": [container], **spec}, "status": {"phase": "Pending"}}
        self.put(Kind.POD, name, pod, annotations=annotations)

    def bind(self, name: str, node: str) -> None:
        """Give a pod a node, as no server would do twice."""
        self.change(name, spec={"nodeName": node})

    def leave(self, name: str) -> None:
        """Tell a pod to go, with grace."""
        pod = self._objects[Kind.POD, name]
        self.put(Kind.POD, name, {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})

    def explain(self, name: str) -> None:
        """Let a pod say why it waits."""
        self.condition(name, {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"})

    def condition(self, name: str, told: Mapping[str, str]) -> None:
        """Give a pod one condition."""
        self.change(name, status={"conditions": [told]})

    def change(self, name: str, **parts: Mapping[str, Any]) -> None:
        """Change parts of a pod."""
        pod = self._objects[Kind.POD, name]
        self.put(Kind.POD, name, {**pod, **{part: {**pod[part], **it} for part, it in parts.items()}})

    def delete(self, name: str, kind: Kind = Kind.POD) -> None:
        """Delete something at once."""
        self._tell(kind, Type.DELETED, name, self._objects.pop((kind, name)))

    def mark(self, what: Type, **said: str | int) -> None:
        """Mark something."""
        self.events.append(mark(self.now, what, **said))

    def put(self, kind: Kind, name: str, thing: Object, **metadata: Any) -> None:
        """Add something, or put it in the place of what has its name."""
        before = self._objects.get((kind, name), {"metadata": {"name": name, "uid": f"{name}-{self._revision}"}})
        place = {} if kind == Kind.NODE else {"namespace": "team"}
        told = {**before["metadata"], **place, **thing.get("metadata", {}), **metadata}
        what = Type.MODIFIED if (kind, name) in self._objects else Type.ADDED
        self._objects[kind, name] = self._tell(kind, what, name, {**thing, "metadata": told})

    def get(self, name: str) -> Object:
        """Give a pod as it is."""
        return self._objects[Kind.POD, name]

    def _tell(self, kind: Kind, what: Type, name: str, thing: Object) -> Object:
        self._revision += 1
        told = {**thing, "metadata": {**thing["metadata"], "resourceVersion": str(self._revision)}}
        self.events.append(Event(self.now, kind, what, told))
        return told

    def end(self) -> Sequence[Event]:
        """Give what a watch would have told, up to now."""
        return [*self.events, mark(self.now, Type.END)]
