"""One gang of sub-gangs on one node, placed by the plain rules: one task at a time, everything looked up anew.

Those sub-gangs come first that the gang's minimum of groups needs, then the others, by their key. A sub-gang gets what
makes it ready or nothing, and so does the gang; beyond that each gets one task a turn.
"""

from collections import Counter
from dataclasses import dataclass, field

from posse.cluster.facts import GangFact, TaskFact
from posse.cluster.subgroups import SubGang, subgang_of

from .gangs import in_order, priority

CPU = "cpu"


@dataclass
class OneNode:
    """A gang, and the cpu of the only node: what is free, and what will be once others have left."""

    gang: GangFact
    members: list[TaskFact]
    idle: int
    future: int
    place: dict[str, str] = field(default_factory=dict)
    """By task: it `runs`, has a `node`, or is `promised` one."""

    def __post_init__(self) -> None:
        self.place = {task.key: "runs" for task in self.members if task.node}

    # ---------------------------------------------------------------- counting

    def has(self, subgang: SubGang | None = None, *, promised: bool = False) -> int:
        """How many members of the gang, or of one sub-gang, have a node."""
        counts = ("runs", "node", "promised") if promised else ("runs", "node")
        return sum(self.place.get(task.key) in counts for task in self.of(subgang))

    def of(self, subgang: SubGang | None) -> list[TaskFact]:
        """The members of the gang, or of one sub-gang."""
        return [task for task in self.members if subgang is None or subgang_of(self.gang, task) == subgang]

    def subgangs(self) -> set[SubGang]:
        """All that have members."""
        return {subgang_of(self.gang, task) for task in self.members}

    def is_ready(self, subgang: SubGang, *, promised: bool = False) -> bool:
        """Whether a sub-gang has its minimum."""
        return self.has(subgang, promised=promised) >= subgang.minimum

    def starts(self, *, promised: bool = False) -> bool:
        """Whether the gang has its minimum of members, and of ready sub-gangs."""
        groups = Counter(each.policy for each in self.subgangs() if self.is_ready(each, promised=promised))
        enough = all(groups[policy.name] >= policy.min_groups for policy in self.gang.subgroups)
        return enough and self.has(promised=promised) >= self.gang.min_member

    def is_valid(self) -> bool:
        """Whether there are sub-gangs and members enough."""
        groups = Counter(each.policy for each in self.subgangs())
        enough = all(groups[policy.name] >= policy.min_groups for policy in self.gang.subgroups)
        return enough and len(self.members) >= self.gang.min_member

    # ---------------------------------------------------------------- order

    def key(self, subgang: SubGang) -> tuple[object, ...]:
        """Higher priority first, then the ready ones, then by number, policy and name."""
        highest = max([0, *(priority(task) for task in self.of(subgang))])
        return (-highest, not self.is_ready(subgang), subgang.index, subgang.policy, subgang.values)

    def required(self) -> set[SubGang]:
        """The first of each policy that are not ready, as many as it still needs."""
        needed: set[SubGang] = set()
        for policy in self.gang.subgroups:
            mine = [each for each in self.subgangs() if each.policy == policy.name]
            short = max(0, policy.min_groups - sum(self.is_ready(each) for each in mine))
            needed |= set(sorted((each for each in mine if not self.is_ready(each)), key=self.key)[:short])
        return needed

    # ---------------------------------------------------------------- turns

    def run(self) -> None:
        """Give the gang its turns."""
        waiting = in_order([task for task in self.members if not task.node])
        untried = {each: [task for task in waiting if task in self.of(each)] for each in self.subgangs()}
        while self.is_valid() and any(untried.values()) and self._turn(untried):
            pass

    def _turn(self, untried: dict[SubGang, list[TaskFact]]) -> bool:
        before, required = dict(self.place), self.required()
        line = [each for each in untried if untried[each]]
        while line:
            subgang = min(line, key=lambda each: (each not in required, self.key(each)))
            line.remove(subgang)
            had = len(self.place)
            self._place(subgang, untried[subgang])
            if self.is_ready(subgang, promised=True):
                line += [subgang] * bool(untried[subgang])
                if len(self.place) > had and self.starts():
                    break
        if self.place != before and (self.starts() or self.starts(promised=True)):
            return self.starts()
        self._take_back(before)
        return False

    def _place(self, subgang: SubGang, untried: list[TaskFact]) -> None:
        before = dict(self.place)
        while untried:
            can_do_without = len(self.members) > self.gang.min_member and len(self.of(subgang)) > subgang.minimum
            if not self._put(untried.pop(0)) and not can_do_without:
                break
            if self.is_ready(subgang):
                break
        if not self.is_ready(subgang, promised=True):
            self._take_back(before)

    def _put(self, task: TaskFact) -> bool:
        asks = dict(task.shape.requests)[CPU]
        if asks > self.future:
            return False
        is_idle = asks <= self.idle
        self.place[task.key] = "node" if is_idle else "promised"
        self.future -= asks
        self.idle -= asks if is_idle else 0
        return True

    def _take_back(self, before: dict[str, str]) -> None:
        for task in self.members:
            if task.key in self.place and task.key not in before:
                asks = dict(task.shape.requests)[CPU]
                self.future += asks
                self.idle += asks if self.place.pop(task.key) == "node" else 0
