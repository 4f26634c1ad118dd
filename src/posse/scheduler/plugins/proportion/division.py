"""Division: sharing out what the cluster has among queues, by weight.

In rounds: every queue that is not yet content gets its weight's part of what remains, but never more than it asks for
or may have, and never less than it is guaranteed. What the content ones leave goes into the next round, until nothing
remains or nothing changes.

Amounts are fractions here, in float64; less than a tenth of a unit is nothing, and amounts no farther apart are
equal.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import PODS

Amounts = NDArray[np.int64]
Fractions = NDArray[np.float64]

SLACK = 0.1


def divide(total: Amounts, weights: Amounts, requests: Amounts, limits: Fractions, guarantees: Amounts) -> Fractions:
    """[Q, D] what each queue deserves of a total [D]."""
    deserved = np.zeros(requests.shape)
    remaining = total.astype(np.float64)
    unmet = np.arange(len(weights))
    while weight := int(weights[unmet].sum()):
        before = deserved[unmet]
        wish = before + remaining * (weights[unmet] / weight)[:, None]
        possible = np.minimum(np.minimum(wish, limits[unmet]), requests[unmet])
        after = deserved[unmet] = np.maximum(possible, guarantees[unmet])
        content = within(requests[unmet], after) | (after == before).all(axis=1)
        given = np.maximum(after - before, 0).sum(axis=0)
        taken_back = np.maximum(before - after, 0).sum(axis=0)
        was, remaining = remaining, np.maximum(remaining + taken_back - given, 0)
        if is_nothing(remaining) or (remaining == was).all():
            break
        unmet = unmet[~content]
    return deserved


def within(left: Amounts | Fractions, right: Amounts | Fractions) -> NDArray[np.bool_]:
    """Whether each row is at most the other's in every dimension, but for the slack."""
    fits: NDArray[np.bool_] = np.asarray((left - right < SLACK).all(axis=-1))
    return fits


def is_nothing(amounts: Fractions) -> bool:
    """Whether nothing is left but pods."""
    return bool((np.delete(amounts, PODS) < SLACK).all())
