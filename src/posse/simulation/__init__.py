"""Clusters described in files: admission, scenarios, the clock that jumps, the result."""
