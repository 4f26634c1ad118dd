"""Filling: a run of equal tasks, each on the best node that is left, exactly as one by one.

The nodes that have a shape's room free stand in a tournament: a tree in which the better of two children stands above them, so the best of all
is at its root and a node whose points changed costs one path. Placing a task changes one node; so does whatever else happens to the
world, which the tournament learns from the node log when it is next asked. So a gang of ten thousand costs ten thousand paths, and a
gang of one costs one, whatever the number of nodes.

Points are computed by the same arithmetic, in the same order of terms, as `scoring` and `fullness` do for all nodes at once; a test holds them
equal. Terms that are normalised depend on the best among the candidates: while that stays, a path is enough; when the last that has it
drops out, or a better one comes in, all are scored again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posse.cluster.columns import Traits
from posse.cluster.compiled import kernel
from posse.cluster.ledger import Ledger, count_in
from posse.cluster.names import PODS
from posse.cluster.status import Status

ALLOCATED = int(Status.ALLOCATED)
FIXED, NORMALISED, RESOURCE = 0, 1, 2
LEAST, MOST, BALANCED, BINPACK = 0, 1, 2, 3
HIGHEST = 100
NOBODY = -1
REFUSED_BY_QUEUE = -2

Rows = NDArray[np.int32]


class ScoreTable(NamedTuple):
    """How one shape is scored: terms in plugin order, each a row of `fixed`, of `raw`, or a resource rule."""

    kinds: NDArray[np.int8]
    which: Rows
    alone: int
    """How many terms, from the first on, are of nodes by themselves; the others compare nodes and are added up apart."""
    counts_pods: bool
    """Whether terminating pods keep their place among a node's pods."""
    fixed: NDArray[np.float64]
    """[terms, N]"""
    raw: NDArray[np.int64]
    """[terms, N]"""
    raw_weights: NDArray[np.int64]
    lower_is_better: NDArray[np.bool_]
    rules: NDArray[np.int8]
    rule_weights: NDArray[np.float64]
    dimensions: Rows
    """[rules, resources] -1: no resource."""
    dimension_weights: NDArray[np.int64]
    """[rules, resources]"""


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


@kernel
def has_room(ledger: Ledger, traits: Traits, table: ScoreTable, shape: int, node: int) -> bool:
    """Whether a node has a shape's room free, promises kept; see `Feasibility.compared` and `Feasibility.room`."""
    asks = not ledger.shape_best_effort[shape]
    for d in range(ledger.shape_request.shape[1]):
        request = ledger.shape_request[shape, d]
        if request > 0 or (d < 2 and asks):
            idle = traits.node_allocatable[d, node] - ledger.node_used[d, node]
            room = idle - ledger.node_pipelined[d, node]
            if not (d == PODS and table.counts_pods):
                room += ledger.node_releasing[d, node]
            if idle < request or room < request:
                return False
    return True


@kernel
def least_or_most(ledger: Ledger, traits: Traits, table: ScoreTable, rule: int, shape: int, node: int) -> float:
    """Kubernetes' LeastAllocated or MostAllocated."""
    total, weights = 0, 0
    for i in range(table.dimensions.shape[1]):
        d = table.dimensions[rule, i]
        if d < 0:
            continue
        capacity = traits.node_allocatable[d, node]
        if capacity <= 0:
            continue
        if d < 2:
            used = ledger.node_scored[d, node] + ledger.shape_scored[shape, d]
        else:
            used = ledger.node_used[d, node] + ledger.node_pipelined[d, node] + ledger.shape_request[shape, d]
        amount = min(used, capacity) if table.rules[rule] == MOST else capacity - used
        weights += table.dimension_weights[rule, i]
        if amount > 0:
            total += (amount * HIGHEST // capacity) * table.dimension_weights[rule, i]
    if weights <= 0:
        return 0.0
    return float(total // weights) * table.rule_weights[rule]


@kernel
def balanced(ledger: Ledger, traits: Traits, table: ScoreTable, rule: int, shape: int, node: int) -> float:
    """Kubernetes' BalancedAllocation."""
    fractions = np.empty(table.dimensions.shape[1], np.float64)
    count = 0
    asks = False
    for i in range(table.dimensions.shape[1]):
        d = table.dimensions[rule, i]
        if d >= 0 and ledger.shape_request[shape, d] > 0:
            asks = True
    if not asks:
        return 0.0
    for i in range(table.dimensions.shape[1]):
        d = table.dimensions[rule, i]
        if d < 0:
            continue
        capacity, request = traits.node_allocatable[d, node], ledger.shape_request[shape, d]
        if capacity <= 0 or (d >= 2 and request <= 0):
            continue
        used = ledger.node_used[d, node] + ledger.node_pipelined[d, node] + request
        fractions[count] = min(used / capacity, 1.0)
        count += 1
    deviation = 0.0
    if count == 2:
        deviation = abs(fractions[0] - fractions[1]) / 2
    elif count > 2:
        total = 0.0
        for i in range(count):
            total += fractions[i]
        mean = total / count
        squares = 0.0
        for i in range(count):
            squares += (fractions[i] - mean) * (fractions[i] - mean)
        deviation = np.sqrt(squares / count)
    return float(int((1 - deviation) * HIGHEST)) * table.rule_weights[rule]


@kernel
def binpack(ledger: Ledger, traits: Traits, table: ScoreTable, rule: int, shape: int, node: int) -> float:
    """Volcano's binpack."""
    total, weights = 0.0, 0
    for i in range(table.dimensions.shape[1]):
        d = table.dimensions[rule, i]
        if d < 0 or ledger.shape_request[shape, d] <= 0:
            continue
        capacity = traits.node_allocatable[d, node]
        used = ledger.node_used[d, node] + ledger.shape_request[shape, d]
        weight = table.dimension_weights[rule, i]
        weights += weight
        if capacity <= 0 or weight == 0:
            continue
        if used > capacity:
            return 0.0
        total += float(used) * float(weight) / capacity
    if weights <= 0:
        return 0.0
    return total / float(weights) * (HIGHEST * table.rule_weights[rule])


@kernel
def points_of(
    ledger: Ledger, traits: Traits, table: ScoreTable, tournament: Tournament, shape: int, node: int
) -> float:
    """All points of a node, in the order of terms."""
    alone, points = 0.0, 0.0
    for t in range(table.kinds.shape[0]):
        if t == table.alone:
            alone, points = points, 0.0
        row = table.which[t]
        if table.kinds[t] == FIXED:
            points += table.fixed[row, node]
        elif table.kinds[t] == NORMALISED:
            highest = tournament.highest[row]
            value = 0
            if highest > 0:
                value = table.raw[row, node] * HIGHEST // highest
            if table.lower_is_better[row]:
                value = HIGHEST - value
            points += float(value * table.raw_weights[row])
        elif table.rules[row] == BALANCED:
            points += balanced(ledger, traits, table, row, shape, node)
        elif table.rules[row] == BINPACK:
            points += binpack(ledger, traits, table, row, shape, node)
        else:
            points += least_or_most(ledger, traits, table, row, shape, node)
    return alone + points


@kernel
def better(traits: Traits, tournament: Tournament, left: int, right: int) -> int:
    """The better of two nodes: more points, or the lower rank."""
    if left < 0:
        return right
    if right < 0:
        return left
    if tournament.points[left] != tournament.points[right]:
        return left if tournament.points[left] > tournament.points[right] else right
    return left if traits.node_rank[left] < traits.node_rank[right] else right


@kernel
def climb(traits: Traits, tournament: Tournament, node: int) -> None:
    """Play again every match above a node."""
    at = tournament.winners.shape[0] // 2 + node
    tournament.winners[at] = node if tournament.competes[node] else NOBODY
    at //= 2
    while at >= 1:
        tournament.winners[at] = better(traits, tournament, tournament.winners[2 * at], tournament.winners[2 * at + 1])
        at //= 2


@kernel
def hold_all(ledger: Ledger, traits: Traits, table: ScoreTable, tournament: Tournament, shape: int) -> None:
    """Begin the tournament anew: who competes, with how many points, and every match."""
    nodes = tournament.passes.shape[0]
    terms = table.raw.shape[0]
    for t in range(terms):
        tournament.highest[t], tournament.holders[t] = 0, 0
    for n in range(nodes):
        tournament.competes[n] = tournament.passes[n] and has_room(ledger, traits, table, shape, n)
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
            tournament.points[n] = points_of(ledger, traits, table, tournament, shape, n)
            tournament.winners[leaves + n] = n
    for at in range(leaves - 1, 0, -1):
        tournament.winners[at] = better(traits, tournament, tournament.winners[2 * at], tournament.winners[2 * at + 1])


@kernel
def look_again(
    ledger: Ledger, traits: Traits, table: ScoreTable, tournament: Tournament, shape: int, node: int
) -> bool:
    """Bring one node up to date. False if what normalises the points moved, so that all have to be scored again."""
    if not tournament.passes[node]:
        return True
    before = tournament.competes[node]
    after = has_room(ledger, traits, table, shape, node)
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
        tournament.points[node] = points_of(ledger, traits, table, tournament, shape, node)
    if before or after:
        climb(traits, tournament, node)
    return True


@kernel
def catch_up(
    ledger: Ledger, traits: Traits, table: ScoreTable, tournament: Tournament, shape: int, seen: int
) -> None:
    """Bring every node up to date that the log names since an entry."""
    end = ledger.log_ends[0]
    if end - seen > tournament.passes.shape[0] // 4 + 8:
        hold_all(ledger, traits, table, tournament, shape)
        return
    for entry in range(seen, end):
        if not look_again(ledger, traits, table, tournament, shape, ledger.node_log[entry]):
            hold_all(ledger, traits, table, tournament, shape)
            return


@kernel
def fill(
    ledger: Ledger,
    traits: Traits,
    table: ScoreTable,
    tournament: Tournament,
    shape: int,
    seen: int,
    tasks: Rows,
    room: NDArray[np.int64],
    nodes: Rows,
) -> int:
    """Place tasks of one shape, in order, until one finds no node. Returns how many were looked at before that one.

    `seen` is how much of the node log the tournament knows, -1: begin anew. `room` is what the queue still gives per dimension; a task that asks for
    more gets `REFUSED_BY_QUEUE` in `nodes` and is passed over. The logs must have room for two entries per task.
    """
    if seen < 0:
        hold_all(ledger, traits, table, tournament, shape)
    else:
        catch_up(ledger, traits, table, tournament, shape, seen)
    dimensions = ledger.shape_request.shape[1]
    for i in range(tasks.shape[0]):
        allowed = True
        for d in range(dimensions):
            request = ledger.shape_request[shape, d]
            if request > 0 and room[d] < request:
                allowed = False
        if not allowed:
            nodes[i] = REFUSED_BY_QUEUE
            continue
        node = tournament.winners[1]
        if node < 0:
            return i
        task = tasks[i]
        count_in(ledger, task, -1)
        ledger.task_status[task] = ALLOCATED
        ledger.task_node[task] = node
        count_in(ledger, task, 1)
        nodes[i] = node
        for d in range(dimensions):
            room[d] -= ledger.shape_request[shape, d]
        if not look_again(ledger, traits, table, tournament, shape, node):
            hold_all(ledger, traits, table, tournament, shape)
    return tasks.shape[0]
