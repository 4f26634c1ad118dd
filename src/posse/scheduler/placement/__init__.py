"""Which node: masks, scores and the greedy fill, computed for all nodes at once."""
