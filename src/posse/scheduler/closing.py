"""Closing: from what a cycle found to a verdict on every gang that it concerns.

Asked once per gang that changed, was tried or was blocked in this cycle; a gang of which nothing moved keeps the
verdict it had. The sentences are those Volcano users know: how many members wait, where each stands, and why the first
of them found no node.
"""

from collections import Counter

from posse.cluster.phases import STARTED, GangPhase, phase_at_close
from posse.cluster.status import Status, members_of
from posse.cluster.verdict import Blocker, GangState, PodVerdict, QueueVerdict, Verdict
from posse.cluster.views import Gang, Queue, Task
from posse.scheduler.reasons import Refusal
from posse.scheduler.session import Note, Session
from posse.scheduler.words import WaitingWords

NOBODY = Note([], {}, {}, {})
NODELESS = (Status.PENDING, Status.GATED, Status.PIPELINED, Status.HELD)
"""Where members stand that have no node; one that is promised is none yet."""
WAITS = members_of(Status.PENDING, Status.ALLOCATED, Status.PIPELINED, Status.HELD)


class Closing:
    """Makes verdicts, by the rules that a configuration chose."""

    def __init__(self, words: WaitingWords, *, keeps_admission: bool) -> None:
        self._words, self._keeps_admission = words, keeps_admission

    def verdict(self, session: Session, gang: Gang) -> Verdict:
        """What this cycle found about a gang; its phase moves on with it."""
        counts, note = gang.counts, session.notes.get(gang.row, NOBODY)
        was_ready = gang.is_ready
        phase = self.settle(session, gang)
        invalid = session.tiers.gang_invalid(gang) if counts[Status.PENDING] or not was_ready else None
        blockers = _blockers(session, gang, note, invalid)
        tried = sum(1 for status, _ in note.attempts.values() if status is Status.ALLOCATED)
        return Verdict(
            gang=gang.key,
            uid=gang.fact.uid,
            cycle=session.cycle,
            state=_state(gang, counts, invalid, is_ready=was_ready),
            phase=phase.name.capitalize(),
            minimum=gang.minimum,
            members=gang.size,
            ready=gang.ready_count,
            running=counts[Status.RUNNING],
            pending=sum(counts[status] for status in NODELESS),
            succeeded=counts[Status.SUCCEEDED],
            failed=counts[Status.FAILED],
            was_ready=was_ready,
            unschedulable=max(0, gang.minimum - gang.ready_count - tried),
            message=_message(session, gang, note, counts, blockers),
            blockers=blockers,
            pods=self._pods(session, gang, note, blockers),
        )

    def settle(self, session: Session, gang: Gang) -> GangPhase:
        """Let a gang's phase move on."""
        phase = phase_at_close(
            gang.phase,
            gang.minimum,
            gang.counts,
            is_unschedulable=bool(gang.size) and not gang.is_ready,
            keeps_admission=self._keeps_admission,
        )
        if phase is GangPhase.UNKNOWN and gang.row in session.world.efforts:
            phase = GangPhase.INQUEUE  # it lost nothing: it never had its minimum
        if phase in STARTED:
            session.world.columns.traits.gang_started[gang.row] = True
        session.set_phase(gang, phase)
        return phase

    def _pods(self, session: Session, gang: Gang, note: Note, blockers: tuple[Blocker, ...]) -> tuple[PodVerdict, ...]:
        """What each waiting member is told. A gated one is left alone: its gate says it all."""
        return tuple(
            PodVerdict(
                pod=task.key,
                uid=task.fact.uid,
                reason=self._words.reason(session, gang, task, note, blockers),
                message=_pod_message(session, gang, task, note, blockers),
                nominated=self._words.nominated(task),
                promised=session.world.nodes.keys[task.node] if task.status is Status.PIPELINED else "",
            )
            for task in _waiting(gang)
        )

    def queues(self, session: Session) -> tuple[QueueVerdict, ...]:
        """How the queues stand, by name."""
        world, found = session.world, []
        for row in world.queues.declared():
            queue = Queue(world, row)
            standing = next(
                (each for plugin in session.tiers.plugins if (each := plugin.queue_standing(queue)) is not None), None
            )
            allocated = world.amounts(world.columns.ledger.queue_allocated[row])
            found.append(
                QueueVerdict(
                    queue=queue.key,
                    allocated=allocated,
                    deserved=standing.deserved if standing else (),
                    share=standing.share if standing else None,
                )
            )
        return tuple(found)


def _waiting(gang: Gang) -> list[Task]:
    """The members that wait, in their default order."""
    if not any(count for count, waits in zip(gang.counts, WAITS.tolist(), strict=True) if waits):
        return []
    members = gang.world.ordered_members(gang.row)
    statuses = gang.world.columns.ledger.task_status[members]
    return [Task(gang.world, row) for row in members[WAITS[statuses]].tolist()]


def _state(gang: Gang, counts: list[int], invalid: Blocker | None, *, is_ready: bool) -> GangState:
    has_room = counts[Status.ALLOCATED] + counts[Status.BINDING] + counts[Status.BOUND]
    waits = counts[Status.PENDING] + counts[Status.GATED] + counts[Status.PIPELINED] + counts[Status.HELD]
    if gang.size and not waits and counts[Status.SUCCEEDED] + counts[Status.FAILED] == gang.size:
        return "finished"
    if is_ready and (counts[Status.RUNNING] or has_room):
        return "running" if counts[Status.RUNNING] else "placed"
    if invalid is not None:
        return "gated" if counts[Status.GATED] and invalid.kind == "gates" else "invalid"
    if counts[Status.HELD]:
        return "held"
    if counts[Status.PIPELINED] and gang.is_pipelined:
        return "pipelined"
    if counts[Status.GATED] and gang.valid_count - counts[Status.GATED] < gang.minimum:
        return "gated"
    return "waiting"


def _blockers(session: Session, gang: Gang, note: Note, invalid: Blocker | None) -> tuple[Blocker, ...]:
    """Everything that kept the gang, or its further members, from a node."""
    found = [invalid] if invalid is not None else []
    found += note.blockers
    told: set[int] = set()
    for row, refusal in note.refusals.items():
        task = Task(session.world, row)
        if task.status is not Status.PENDING or task.shape_row in told:
            continue
        told.add(task.shape_row)
        message = f"0/{refusal.total} nodes take {task.key}: {refusal}" if refusal.nodes else "the cluster has no nodes"
        found.append(
            Blocker(
                kind="nodes",
                plugin="predicates",
                message=message,
                reason="NotEnoughResources",
                have=gang.ready_count,
                need=gang.minimum,
                unit="pods",
                nodes=refusal.nodes,
                nodes_help=session.reasons.nodes_help(refusal),
                task=task.key,
            )
        )
    if not found and gang.counts[Status.PENDING] and gang.is_admitted:
        overused = session.tiers.queue_overused(gang.queue)  # nobody of such a queue is even tried
        found += [overused] if overused is not None else []
    gated = gang.counts[Status.GATED]
    if gated and not gang.is_ready and invalid is None:
        message = f"{gated} of {gang.size} pods wait for a scheduling gate to be lifted"
        have = gang.size - gated
        found.append(Blocker(kind="gates", plugin="gang", message=message, have=have, need=gang.minimum, unit="pods"))
    return tuple(found)


def _message(session: Session, gang: Gang, note: Note, counts: list[int], blockers: tuple[Blocker, ...]) -> str:
    """Where the members stand, and why the first that was refused was."""
    standing = Counter(
        {
            _name(status): counts[status]
            for status in Status
            if status is not Status.GONE and counts[status] and status is not Status.GATED
        }
    )
    standing["Pending"] += counts[Status.GATED]
    parts = sorted(f"{count} {name}" for name, count in (+standing).items())
    parts = sorted([*parts, f"{gang.minimum} minAvailable"])
    text = f"pod group is {'ready' if gang.is_ready else 'not ready'}, {', '.join(parts)}"
    if note.refusals:
        row, refusal = next(iter(note.refusals.items()))
        text += f". Origin reason is {Task(session.world, row).fact.name}: {_unavailable(refusal)}"
    elif blockers:
        text += f". Origin reason is: {blockers[0].message}"
    return text


def _pod_message(session: Session, gang: Gang, task: Task, note: Note, blockers: tuple[Blocker, ...]) -> str:
    status, node = note.attempts.get(task.row, (task.status, ""))
    node = node or (session.world.nodes.keys[task.node] if task.node >= 0 else "")
    if status is Status.ALLOCATED:
        return f"Pod {task.key} can possibly be assigned to {node}, once minAvailable is satisfied"
    if status in (Status.PIPELINED, Status.HELD):
        conditions = "resource is released and minAvailable is satisfied"
        return f"Pod {task.key} can possibly be assigned to {node}, once {conditions}"
    if task.row in note.refusals:
        return _unavailable(note.refusals[task.row])
    if task.row in note.skipped:
        return note.skipped[task.row]
    if blockers:
        return blockers[0].message
    return f"gang {gang.key} waits: {gang.ready_count} of {gang.minimum} members have a node"


def _unavailable(refusal: Refusal) -> str:
    return f"0/{refusal.total} nodes are unavailable: {refusal}." if refusal.nodes else "the cluster has no nodes"


def _name(status: Status) -> str:
    return status.name.capitalize()
