"""The pages of a running scheduler.

    /healthz          whether it should be left running
    /readyz           whether it knows the cluster: one that leads and one that stands by are both ready
    /metrics          figures, for Prometheus
    /debug/explain    why a gang waits: ?gang=namespace/name

Nobody is asked for credentials. So what tells of the gangs of all tenants is given on the loopback only, where
`kubectl port-forward` comes from too: whoever may do that may see it.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from posse.live.exposition import CONTENT_TYPE
from posse.live.listening import Answer, Page, Request

JSON = "application/json"


class Scheduler(Protocol):
    """What the pages are about."""

    @property
    def leader(self) -> str:
        """Who leads; empty for nobody."""

    def leads(self) -> bool:
        """Whether this one does."""

    def is_ready(self) -> bool:
        """Whether it knows all that there is."""

    def silence(self) -> float:
        """For how many seconds it has stood still that should turn."""

    def metrics(self) -> str:
        """Its figures."""

    def explain(self, gang: str) -> Mapping[str, Any] | None:
        """Why a gang waits."""


class Pages:
    """Gives the pages."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.is_ending = False

    def by_path(self) -> dict[str, Page]:
        """Say what there is."""
        return {
            "/healthz": Page(self._health),
            "/readyz": Page(self._readiness),
            "/metrics": Page(self._figures, costly=True),
            "/debug/explain": Page(self._explanation, costly=True),
        }

    def _health(self, request: Request) -> Answer:
        del request
        silent = self._scheduler.silence()
        return Answer(f"stands still for {silent:.0f} s\n", 503) if silent else Answer("ok\n")

    def _readiness(self, request: Request) -> Answer:
        del request
        if self.is_ending:
            return Answer("ending\n", 503)
        if not self._scheduler.is_ready():
            return Answer("not all that there is has been listed yet\n", 503)
        return Answer("ok: leads\n" if self._scheduler.leads() else "ok: stands by\n")

    def _figures(self, request: Request) -> Answer:
        del request
        return Answer(self._scheduler.metrics(), type=CONTENT_TYPE)

    def _explanation(self, request: Request) -> Answer:
        if not request.near:
            return _fault(403, "answered on the loopback only: kubectl port-forward, and ask there")
        name = request.query.get("gang", "")
        if "/" not in name:
            return _fault(400, "which gang? /debug/explain?gang=namespace/name")
        if not self._scheduler.leads():
            return _fault(503, f"not the leader, so it decides nothing; {self._scheduler.leader or 'nobody'} leads")
        found = self._scheduler.explain(name)
        if found is None:
            return _fault(404, f"there is no gang {name}")
        return Answer(msgspec.json.encode(found).decode() + "\n", type=JSON)


def _fault(status: int, message: str) -> Answer:
    return Answer(msgspec.json.encode({"error": message}).decode() + "\n", status, JSON)
