"""The watches: one for each kind, all told to the intake and to whoever else wants to know.

When the last of them has listed what there is, everything that is in memory then stays for long, and the garbage
collector need not look through it again.
"""

import gc
from collections.abc import AsyncIterator, Callable, Sequence

from posse.kube.api.client import ApiClient
from posse.kube.api.records import Interrupted, Record, Seen, Unreadable
from posse.kube.api.resources import resource_of
from posse.kube.api.watching import Watch
from posse.kube.meta import KubeObject
from posse.live.intake import Intake, Name
from posse.live.journal import Journal


class Watches:
    """Watches kinds."""

    def __init__(
        self,
        client: ApiClient,
        kinds: Sequence[type[KubeObject]],
        intake: Intake,
        listeners: Sequence[Callable[[Record], None]],
        journal: Journal,
    ) -> None:
        self._watches = {kind: Watch(client, resource_of(kind)) for kind in kinds}
        self._intake, self._listeners, self._journal = intake, listeners, journal

    @property
    def kinds(self) -> Sequence[type[KubeObject]]:
        """What is watched."""
        return tuple(self._watches)

    async def run(self, kind: type[KubeObject]) -> None:
        """Watch a kind, for ever."""
        await self.follow(kind, self._watches[kind].records())

    async def follow(self, kind: type[KubeObject], told: AsyncIterator[list[Record]]) -> None:
        """Pass on what is told of a kind."""
        async for records in told:
            was_synced = self._intake.is_synced
            for record in records:
                self._take(kind, record)
            if self._intake.is_synced and not was_synced:
                gc.collect()
                gc.freeze()
                self._journal.ready({each.KIND: watch.known for each, watch in self._watches.items()})

    def _take(self, kind: type[KubeObject], record: Record) -> None:
        if isinstance(record, Interrupted):
            self._journal.interrupted(kind.KIND, record.why)
            return
        self._journal.heard(kind.KIND)
        name = name_of(record)
        before = self._intake.unreadable.get(name, "") if name else ""
        self._intake.put(record)
        if name:
            self._journal.unreadable(name, before, self._intake.unreadable.get(name, ""))
        for listener in self._listeners:
            listener(record)


def name_of(record: Record) -> Name | None:
    """Whose record it is, if it may have been unreadable or be it now."""
    match record:
        case Seen(object=thing):
            return thing.kind_name, thing.metadata.namespace, thing.metadata.name
        case Unreadable(kind=kind, namespace=namespace, name=name):
            return kind.KIND, namespace, name
        case _:
            return None
