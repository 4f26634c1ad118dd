"""Filling: a run of equal tasks, each on the best node that is left, exactly as one by one.

The nodes that have a shape's room free stand in a tournament: a tree in which the better of two children stands above
them, so the best of all is at its root and a node whose points changed costs one path. Placing a task changes one node;
so does whatever else happens to the world, which the tournament learns from the node log when it is next asked. So a
gang of ten thousand costs ten thousand paths, and a gang of one costs one, whatever the number of nodes.

Points are computed in the same order of terms as `scoring` does for all nodes at once; a test holds them equal. Terms
that are normalised depend on the best among the candidates: while that stays, a path is enough; when the last that has
it drops out, or a better one comes in, all are scored again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posse.cluster.columns import Traits
from posse.cluster.compiled import kernel, part
from posse.cluster.ledger import Ledger, count_in
from posse.cluster.names import PODS
from posse.cluster.status import Status
from posse.scheduler.placement.fullness import Rows, Rules, Stock, Vector, fullness, stock_of
from posse.scheduler.placement.terms import HIGHEST

PENDING, ALLOCATED = int(Status.PENDING), int(Status.ALLOCATED)
FIXED, NORMALISED, RESOURCE = 0, 1, 2
NOBODY = -1
REFUSED_BY_QUEUE = -2


class ScoreTable(NamedTuple):
    """How one shape is scored: terms in plugin order, each a row of `fixed`, of `raw`, or a resource rule."""

    kinds: NDArray[np.int8]
    which: Rows
    alone: int
    """How many terms, from the first on, are of nodes by themselves; the others compare nodes and are added up apart.
    """
    counts_pods: bool
    """Whether terminating pods keep their place among a node's pods."""
    fixed: NDArray[np.float64]
    """[terms, N]"""
    raw: NDArray[np.int64]
    """[terms, N]"""
    raw_weights: NDArray[np.int64]
    lower_is_better: NDArray[np.bool_]
    rules: Rules


class Tournament(NamedTuple):
    """The candidates of one shape."""

    passes: NDArray[np.bool_]
    """[N] what the node is suits the shape."""
    competes: NDArray[np.bool_]
    """[N] and it has the room free."""
    points: NDArray[np.float64]
    """[N] of those that compete."""
    winners: Rows
    """[2 * leaves] node rows; entry 1 is the root, leaves begin at half."""
    highest: NDArray[np.int64]
    """[normalised terms] the highest raw points among those that compete."""
    holders: NDArray[np.int64]
    """[normalised terms] how many have them."""


@part
def has_room(stock: Stock, counts_pods: bool, node: int) -> bool:
    """Whether a node has the room free, promises kept; see `Feasibility.compared` and `Feasibility.room`."""
    asks = False
    for d in range(stock.request.shape[0]):
        asks = asks or (stock.request[d] > 0 and d != PODS)
    for d in range(stock.request.shape[0]):
        request = stock.request[d]
        if request > 0 or (d < 2 and asks):
            idle = stock.allocatable[d, node] - stock.used[d, node]
            room = idle - stock.pipelined[d, node]
            if not (d == PODS and counts_pods):
                room += stock.releasing[d, node]
            if idle < request or room < request:
                return False
    return True


@part
def normalised(raw: int, highest: int, lower_is_better: bool) -> int:
    """Raw points brought to scale."""
    points = raw * HIGHEST // highest if highest > 0 else 0
    return HIGHEST - points if lower_is_better else points


@part
def points_of(stock: Stock, table: ScoreTable, highest: Vector, node: int) -> float:
    """All points of a node, in the order of terms."""
    alone, points = 0.0, 0.0
    for t in range(table.kinds.shape[0]):
        if t == table.alone:
            alone, points = points, 0.0
        row, kind = table.which[t], table.kinds[t]
        if kind == FIXED:
            points += table.fixed[row, node]
        elif kind == NORMALISED:
            points += float(
                normalised(table.raw[row, node], highest[row], table.lower_is_better[row]) * table.raw_weights[row]
            )
        else:
            points += fullness(stock, table.rules, row, node)
    return alone + points


@part
def better(points: NDArray[np.float64], ranks: NDArray[np.int64], left: int, right: int) -> int:
    """The better of two nodes: more points, or the lower rank."""
    if left < 0:
        return right
    if right < 0:
        return left
    if points[left] != points[right]:
        return left if points[left] > points[right] else right
    return left if ranks[left] < ranks[right] else right


@part
def climb(points: NDArray[np.float64], ranks: NDArray[np.int64], winners: Rows, node: int, competes: bool) -> None:
    """Play again every match above a node."""
    at = winners.shape[0] // 2 + node
    winners[at] = node if competes else NOBODY
    at //= 2
    while at >= 1:
        winners[at] = better(points, ranks, winners[2 * at], winners[2 * at + 1])
        at //= 2


@kernel
def hold_all(stock: Stock, ranks: Vector, table: ScoreTable, tournament: Tournament) -> None:
    """Begin the tournament anew: who competes, with how many points, and every match."""
    nodes = tournament.passes.shape[0]
    terms = table.raw.shape[0]
    for t in range(terms):
        tournament.highest[t], tournament.holders[t] = 0, 0
    for n in range(nodes):
        tournament.competes[n] = tournament.passes[n] and has_room(stock, table.counts_pods, n)
        if tournament.competes[n]:
            for t in range(terms):
                if table.raw[t, n] > tournament.highest[t]:
                    tournament.highest[t], tournament.holders[t] = table.raw[t, n], 1
                elif table.raw[t, n] == tournament.highest[t]:
                    tournament.holders[t] += 1
    leaves = tournament.winners.shape[0] // 2
    for at in range(leaves, 2 * leaves):
        tournament.winners[at] = NOBODY
    for n in range(nodes):
        if tournament.competes[n]:
            tournament.points[n] = points_of(stock, table, tournament.highest, n)
            tournament.winners[leaves + n] = n
    for at in range(leaves - 1, 0, -1):
        left, right = tournament.winners[2 * at], tournament.winners[2 * at + 1]
        tournament.winners[at] = better(tournament.points, ranks, left, right)


@part
def look_again(stock: Stock, ranks: Vector, table: ScoreTable, tournament: Tournament, node: int) -> bool:
    """Bring one node up to date. False if what normalises the points moved, so that all have to be scored again."""
    if not tournament.passes[node]:
        return True
    before = tournament.competes[node]
    after = has_room(stock, table.counts_pods, node)
    tournament.competes[node] = after
    for t in range(table.raw.shape[0]):
        raw = table.raw[t, node]
        if after and not before:
            if raw > tournament.highest[t]:
                return False
            if raw == tournament.highest[t]:
                tournament.holders[t] += 1
        if before and not after and raw == tournament.highest[t]:
            tournament.holders[t] -= 1
            if tournament.holders[t] == 0 and raw > 0:
                return False
    if after:
        tournament.points[node] = points_of(stock, table, tournament.highest, node)
    if before or after:
        climb(tournament.points, ranks, tournament.winners, node, after)
    return True


@kernel
def catch_up(stock: Stock, ranks: Vector, table: ScoreTable, tournament: Tournament, log: Rows) -> None:
    """Bring every node up to date that an excerpt of the node log names."""
    if log.shape[0] > tournament.passes.shape[0] // 4 + 8:
        hold_all(stock, ranks, table, tournament)
        return
    for entry in range(log.shape[0]):
        if not look_again(stock, ranks, table, tournament, log[entry]):
            hold_all(stock, ranks, table, tournament)
            return


@kernel
def capacity(
    ledger: Ledger, traits: Traits, passes: NDArray[np.bool_], shape: int, enough: int, promised_too: bool
) -> int:
    """How many tasks of a shape find room on suitable nodes, now or once terminating pods are gone; not counted further
    than `enough`.
    """
    total = 0
    request = ledger.shape_request[shape]
    for n in range(passes.shape[0]):
        if not passes[n]:
            continue
        fits = enough
        for d in range(request.shape[0]):
            if request[d] > 0:
                room = traits.node_allocatable[d, n] - ledger.node_used[d, n] + ledger.node_releasing[d, n]
                if not promised_too:
                    room -= ledger.node_pipelined[d, n]
                fits = min(fits, max(room, 0) // request[d])
        total += fits
        if total >= enough:
            break
    return total


@kernel
def fill(  # noqa: C901, PLR0912 - a kernel is one loop
    ledger: Ledger,
    traits: Traits,
    table: ScoreTable,
    tournament: Tournament,
    shape: int,
    seen: int,
    tasks: Rows,
    ends: Rows,
    room: Vector,
    nodes: Rows,
) -> int:
    """Place tasks of one shape, in order, until one finds no node. Returns how many were looked at before that one.

    The tasks are those of one gang after the other, each ending where `ends` says. A gang counts whole: what was placed
    of the one in which it ended is taken back, unless it is the only one. `seen` is how much of the node log the
    tournament knows, -1: begin anew. `room` is what the queue still gives per dimension; a task that asks for more gets
    `REFUSED_BY_QUEUE` in `nodes` and is passed over. The logs must have room for four entries per task.
    """
    stock, ranks = stock_of(ledger, traits, shape), traits.node_rank
    if seen < 0:
        hold_all(stock, ranks, table, tournament)
    else:
        catch_up(stock, ranks, table, tournament, ledger.node_log[seen : ledger.log_ends[0]])
    dimensions = ledger.shape_request.shape[1]
    begin = 0
    for g in range(ends.shape[0]):
        stopped = -1
        for i in range(begin, ends[g]):
            allowed = True
            for d in range(dimensions):
                if stock.request[d] > 0 and room[d] < stock.request[d]:
                    allowed = False
            node = tournament.winners[1] if allowed else REFUSED_BY_QUEUE
            nodes[i] = node
            if node == NOBODY or (node == REFUSED_BY_QUEUE and ends.shape[0] > 1):
                stopped = i
                break
            if node == REFUSED_BY_QUEUE:
                continue
            task = tasks[i]
            count_in(ledger, task, -1)
            ledger.task_status[task] = ALLOCATED
            ledger.task_node[task] = node
            count_in(ledger, task, 1)
            for d in range(dimensions):
                room[d] -= stock.request[d]
            if not look_again(stock, ranks, table, tournament, node):
                hold_all(stock, ranks, table, tournament)
        if stopped >= 0:
            if ends.shape[0] == 1:
                return stopped
            for i in range(stopped - 1, begin - 1, -1):
                task = tasks[i]
                count_in(ledger, task, -1)
                ledger.task_status[task] = PENDING
                ledger.task_node[task] = NOBODY
                count_in(ledger, task, 1)
                if not look_again(stock, ranks, table, tournament, nodes[i]):
                    hold_all(stock, ranks, table, tournament)
            return begin
        begin = ends[g]
    return begin
