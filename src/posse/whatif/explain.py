"""Explaining: for every gang a record of why it stands where it stands, and for those that wait what would make them
start.

The allowance of runs is spent on the waiting gangs in the order of their line. Each is searched in the same order:
would it start by itself; is something wrong with what was written; then constraints, quotas, nodes, room of others, a
lower minimum. What was proven before the allowance ran out stands, and the record says that the search was cut.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile

from msgspec import structs

from posse.cluster.status import Status
from posse.cluster.verdict import GangState, Verdict
from posse.cluster.views import Gang
from posse.whatif import amounts, line, repairs, summary
from posse.whatif.constraints import remove_constraints
from posse.whatif.explanation import Change, Estimate, Explanation, Obstacle, Position, Remedy
from posse.whatif.minimum import lower_min
from posse.whatif.nodes import NodeKind, add_nodes, kinds_of
from posse.whatif.obstacles import by_proof, obstacles
from posse.whatif.probe import Finding, Prober
from posse.whatif.quotas import raise_quota
from posse.whatif.room import free_resources
from posse.whatif.search import Allowance, Search, SpentError
from posse.whatif.situation import Situation
from posse.whatif.trials import Trials

FULL_SEARCH = 40
"""Runs that the search for one gang hardly ever exceeds."""
DEFAULT_RUNS = 20 * FULL_SEARCH
"""Enough to search twenty waiting gangs fully."""


class Explainer:
    """Explains the gangs of one situation."""

    def __init__(self, situation: Situation, runs: int = DEFAULT_RUNS) -> None:
        self._situation = situation
        self._engine = situation.engine
        self._trials, self._allowance = Trials(situation), Allowance(runs)
        self._waiting = line.in_line(self._engine.tiers, line.waiting(self._engine))
        self._positions = line.positions(self._waiting)
        self._places = {gang.row: place for place, gang in enumerate(self._waiting)}
        self._needed: list[int] = []
        self._needed_before: list[int] = []
        """How many of the tasks that waiting gangs need are those of gangs before each place in line."""
        self._prober: Prober | None = None
        self._kinds: list[NodeKind] | None = None

    def all(self) -> dict[str, Explanation]:
        """The explanation of every gang by its key, the waiting ones searched in the order of their line."""
        world = self._engine.world
        explained = {gang.key: self.waiting(gang) for gang in self._waiting}
        others = (Gang(world, row) for row in world.gangs.declared())
        explained.update((gang.key, self.started(gang)) for gang in others if gang.key not in explained)
        return explained

    def one(self, gang: str) -> Explanation | None:
        """The explanation of one gang, which gets the whole allowance."""
        found = next((each for each in self._waiting if each.key == gang), None)
        if found is not None:
            return self.waiting(found)
        row = self._engine.world.gangs.find(gang)
        if row < 0 or self._engine.world.gangs.facts[row] is None:
            return None
        asked = Gang(self._engine.world, row)
        return self.wanting(asked) if line.wants_more(asked) else self.started(asked)

    def started(self, gang: Gang) -> Explanation:
        """A gang that has its minimum or is over needs no search. Why members wait that it does not need is told."""
        verdict, wants_more = self._situation.verdict(gang.key), line.wants_more(gang)
        state = _state_of_started(gang, verdict)
        return Explanation(
            state=state,
            summary=summary.of_started(state, gang),
            blockers=by_proof(self._blockers_beyond(gang, verdict, Finding()), ()) if wants_more else (),
            searched="cut" if wants_more else "complete",
            last_eviction=self._situation.last_eviction(gang.key),
            position=self._positions_beyond.get(gang.row) if wants_more else None,
        )

    def wanting(self, gang: Gang) -> Explanation:
        """A gang that has its minimum: what keeps the next of its members from a node, and what would help."""
        told, finding = self.started(gang), self._probe(gang)
        search = self._search(gang, finding, self._ahead_of_more(gang))
        remedies, cut = self._found(search)
        blockers = by_proof(self._blockers_beyond(gang, search.verdict, finding), remedies)
        return structs.replace(
            told,
            summary=summary.of_wanting(
                told.state, gang, blockers, remedies, search.tried, faults=list(self._trials.faults), cut=cut
            ),
            blockers=blockers,
            remedies=remedies,
            searched="cut" if cut else "complete",
        )

    def _blockers_beyond(self, gang: Gang, verdict: Verdict | None, finding: Finding) -> tuple[Obstacle, ...]:
        more = gang.counts[Status.PENDING] + gang.counts[Status.GATED] > 0
        aim = gang.ready_count + gang.waiting_count + more
        return obstacles(gang, self._engine.tiers, verdict, finding, aim)

    def waiting(self, gang: Gang) -> Explanation:
        """A gang that waits: what blocks it, and what was proven to help."""
        situation = self._situation
        verdict, finding = situation.verdict(gang.key), self._probe(gang)
        blockers = obstacles(gang, self._engine.tiers, verdict, finding)
        search = self._search(gang, finding, self._ahead_of(gang))
        remedies, cut = self._found(search)
        blockers, faults = by_proof(blockers, remedies), list(self._trials.faults)
        return Explanation(
            state=_state_of_waiting(gang, verdict),
            summary=summary.of_waiting(gang, blockers, remedies, search.tried, finding, faults=faults, cut=cut),
            blockers=blockers,
            remedies=remedies,
            searched="cut" if cut else "complete",
            last_eviction=situation.last_eviction(gang.key),
            position=self._positions.get(gang.row),
            estimate=situation.estimate(gang.key) if gang.is_declared else Estimate(),
        )

    def _search(self, gang: Gang, finding: Finding, ahead: Sequence[int]) -> Search:
        return Search(
            self._situation,
            gang,
            verdict=self._situation.verdict(gang.key),
            finding=finding,
            ahead=ahead,
            trials=self._trials,
            allowance=self._allowance,
        )

    def _found(self, search: Search) -> tuple[tuple[Remedy, ...], bool]:
        """Remedies, the one to be named first in front, and whether the search was cut."""
        remedies: list[Remedy] = []
        try:
            for found in self._remedies(search):
                remedies += found
        except SpentError:
            return summary.in_order(remedies), True
        return summary.in_order(remedies), search.left_out and not remedies

    def _remedies(self, search: Search) -> Iterator[list[Remedy]]:
        """Remedies, kind by kind. A gang that starts by itself needs no other."""
        if search.works(Change()):
            yield [Remedy(action="wait-for", message=_awaited(search.gang))]
            return
        sources = search.situation.sources([task.key for task in search.waiting])
        yield repairs.repair(search, sources)
        if search.fact is None or not search.gang.queue.is_declared:
            return
        yield remove_constraints(search, sources)
        yield raise_quota(search)
        yield add_nodes(search, self._node_kinds())
        yield free_resources(search)
        if search.gang.row in self._places:
            yield lower_min(search)

    @cached_property
    def _with_those_beyond(self) -> list[Gang]:
        """Who waits and who wants more than its minimum, in one line."""
        return line.in_line(self._engine.tiers, [*self._waiting, *line.wanting_more(self._engine)])

    @cached_property
    def _positions_beyond(self) -> dict[int, Position]:
        return line.positions(self._with_those_beyond)

    def _ahead_of_more(self, gang: Gang) -> list[int]:
        """The tasks that those need who wait ahead of a gang that wants more than its minimum."""
        ahead = takewhile(lambda each: each.row != gang.row, self._with_those_beyond)
        return [task for each in ahead if each.row in self._places and each.is_declared for task in self._needs(each)]

    def _ahead_of(self, gang: Gang) -> list[int]:
        """The tasks that gangs ahead in line need for their minimum and do not have."""
        place = self._places[gang.row]
        while len(self._needed_before) <= place:
            known = self._waiting[len(self._needed_before)]
            self._needed_before.append(len(self._needed))
            self._needed += self._needs(known) if known.is_declared else ()
        return self._needed[: self._needed_before[place]]

    def _needs(self, gang: Gang) -> list[int]:
        world = self._engine.world
        members = world.ordered_members(gang.row)
        pending: list[int] = members[world.columns.ledger.task_status[members] == Status.PENDING].tolist()
        return pending[: max(0, gang.minimum - gang.ready_count - gang.waiting_count)]

    def _probe(self, gang: Gang) -> Finding:
        if not gang.is_declared:
            return Finding()
        if self._prober is None:
            self._prober = Prober(self._situation.trial(Change()).engine, self._situation.now)
        prober = self._prober
        return self._trials.asked(prober.engine, lambda: prober.probe(gang), Finding())

    def _node_kinds(self) -> list[NodeKind]:
        if self._kinds is None:
            self._kinds = kinds_of(self._engine.world)
        return self._kinds


def _awaited(gang: Gang) -> str:
    """What a gang that starts by itself waits for."""
    world = gang.world
    promised = [task for task in gang.members if task.status in (Status.PIPELINED, Status.HELD)]
    if promised:
        nodes = sorted({world.nodes.keys[task.node] for task in promised})
        return f"{amounts.pods(len(promised), 'gets', 'get')} the room that is being freed on {', '.join(nodes[:3])}"
    leaving = int((world.columns.ledger.task_status[: len(world.tasks)] == Status.RELEASING).sum())
    return (
        f"its turn comes when {leaving} terminating pods are gone" if leaving else "its turn comes in the next cycles"
    )


def _state_of_started(gang: Gang, verdict: Verdict | None) -> GangState:
    if line.is_over(gang):
        return "finished"
    if verdict is not None and verdict.state in ("running", "placed"):
        return verdict.state
    return "running" if gang.counts[Status.RUNNING] else "placed"


def _state_of_waiting(gang: Gang, verdict: Verdict | None) -> GangState:
    if verdict is not None and gang.is_declared and verdict.state not in ("running", "placed", "finished"):
        return verdict.state
    return "waiting"
