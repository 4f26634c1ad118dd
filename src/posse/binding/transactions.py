"""Gang transactions: the binds of one gang that one cycle decided, and what is still open of them.

    waiting ──▶ preparing ──▶ binding ──▶ done

The binds of a cycle are parted by gang, in the order in which they were decided, so members of a gang stand together. A
transaction waits for its *permit*: all of its members must be there for it alone. So no pod is ever in two hands, even
if a later cycle decides about one that is still under way. Then all that its members need is prepared, then they are
bound; it is done when each has its outcome, which each gets once.

Nothing here waits or asks anybody: that is `binder`'s part.
"""

from collections.abc import Iterable
from enum import Enum
from math import inf

from msgspec import Struct, field

from posse.cluster.records import Bind, Outcome


class Stage(Enum):
    """How far a transaction is."""

    WAITING = "waiting"
    PREPARING = "preparing"
    BINDING = "binding"
    DONE = "done"


class Member(Struct, eq=False):
    """A bind, and how it stands.

    `look`: nobody knows what came of the last request, so the pod has to be looked at before anything else.
    `doubt`: there was such a request, and it may still be carried out, so nobody can say that the pod stays unbound.
    """

    bind: Bind
    transaction: "Transaction"
    failures: int = 0
    look: bool = False
    doubt: bool = False
    outcome: Outcome | None = None


class Transaction(Struct, eq=False):
    """The binds of a gang. `number` is its place in the order of decision; `deadline` is a time of the clock."""

    number: int
    gang: str
    members: list[Member] = field(default_factory=list)
    stage: Stage = Stage.WAITING
    open: int = 0
    deadline: float = inf

    def add(self, bind: Bind) -> None:
        """Take one more bind in."""
        self.members.append(Member(bind, self))
        self.open += 1

    def begin_binding(self, deadline: float) -> None:
        """Let all that was to be prepared be prepared."""
        self.stage = Stage.BINDING
        self.deadline = deadline

    def close(self, member: Member, outcome: Outcome) -> None:
        """Give a member its outcome, the only one it gets."""
        if member.outcome is not None:
            raise ValueError(f"{member.bind.pod} has its outcome already: {member.outcome}")
        member.outcome = outcome
        self.open -= 1
        if not self.open:
            self.stage = Stage.DONE
            self.members = []  # who point back at us: so all of us can go at once


class Book:
    """All transactions that are not done."""

    def __init__(self) -> None:
        self._decided = 0
        self._waiting: list[Transaction] = []
        self._open: dict[str, Member] = {}

    @property
    def open(self) -> int:
        """How many binds have no outcome yet, those that wait for a permit included."""
        return len(self._open) + sum(len(it.members) for it in self._waiting)

    def members(self) -> list[Member]:
        """All that have no outcome yet."""
        return [*self._open.values(), *(member for it in self._waiting for member in it.members)]

    def enter(self, binds: Iterable[Bind]) -> list[Transaction]:
        """Take in what a cycle decided, and give the transactions that may begin."""
        entered = grouped(binds, self._decided)
        self._decided += len(entered)
        self._waiting += entered
        return self.permitted()

    def close(self, member: Member, outcome: Outcome) -> list[Transaction]:
        """Give a member its outcome, and give the transactions that may begin because of that."""
        member.transaction.close(member, outcome)
        self._open.pop(member.bind.uid, None)
        return self.permitted() if self._waiting else []

    def permitted(self) -> list[Transaction]:
        """Let those begin whose members are in no other hand, nor wanted by one that has waited longer."""
        ready: list[Transaction] = []
        still: list[Transaction] = []
        wanted: set[str] = set()
        for it in self._waiting:
            mine = {member.bind.uid: member for member in it.members if member.outcome is None}
            if wanted.isdisjoint(mine) and self._open.keys().isdisjoint(mine):
                self._open.update(mine)
                it.stage = Stage.PREPARING
                ready.append(it)
            else:
                wanted.update(mine)
                still.append(it)
        self._waiting = still
        return ready


def grouped(binds: Iterable[Bind], first: int = 0) -> list[Transaction]:
    """The transactions of one cycle, in the order in which their gangs come first; a second bind of a pod comes after
    the first.
    """
    found: list[Transaction] = []
    last: dict[str, Transaction] = {}
    seen: set[str] = set()
    for bind in binds:
        transaction = last.get(bind.gang)
        if transaction is None or bind.uid in seen:
            transaction = last[bind.gang] = Transaction(first + len(found), bind.gang)
            found.append(transaction)
        seen.add(bind.uid)
        transaction.add(bind)
    return found
