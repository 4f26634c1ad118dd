"""A binder before a server that misbehaves, and what it reported."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from posse.binding.binder import Binder
from posse.binding.limiter import Limiter, Limits, Pace
from posse.binding.preparing import Preparer
from posse.binding.terms import Report
from posse.cluster.records import Bind, Bound, Kept, Outcome, Payload, Refused, TimedOut
from tests.binding.api import Api, Pod
from tests.binding.jumping import now


def bind(name: str, gang: str = "g", node: str = "n1", payloads: tuple[Payload, ...] = (), uid: str = "") -> Bind:
    return Bind(f"ns/{name}", uid or f"uid-{name}", node, f"ns/{gang}", payloads)


def gang(name: str, size: int, node: str = "n1", payloads: tuple[Payload, ...] = ()) -> list[Bind]:
    return [bind(f"{name}-{number}", name, node, payloads) for number in range(size)]


def short(outcome: Outcome) -> str:
    name = outcome.pod.partition("/")[2]
    match outcome:
        case Bound():
            return f"{name}@{outcome.node}"
        case Refused():
            return f"{name}: {outcome.reason}"
        case TimedOut():
            return f"{name}? {outcome.reason}"
        case Kept():
            return f"{name} stays: {outcome.reason}"


@dataclass
class Scene:
    """What there is. Made inside a story."""

    api: Api = field(default_factory=Api)
    outcomes: list[Outcome] = field(default_factory=list)
    leads: bool = True
    latencies: list[float] = field(default_factory=list)

    def limiter(self, limits: Limits = Limits()) -> Limiter:  # noqa: B008 - immutable
        return Limiter(Pace(limits), clock=now, sleep=asyncio.sleep, random=lambda: 0.5)

    def binder(
        self,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        preparers: Mapping[str, Preparer] | None = None,
        report: Report | None = None,
        **more: Any,
    ) -> Binder:
        return Binder(
            self.api,
            report or self.outcomes.append,
            limiter=self.limiter(limits),
            may_bind=lambda: self.leads,
            clock=now,
            sleep=asyncio.sleep,
            random=lambda: 0.5,
            preparers=preparers,
            observe=self.latencies.append,
            **more,
        )

    def with_pods_of(self, binds: list[Bind]) -> "Scene":
        for it in binds:
            self.api.pods[it.pod] = Pod(it.uid)
        return self

    @property
    def told(self) -> list[str]:
        return [short(it) for it in self.outcomes]


FOREVER = 10_000.0
