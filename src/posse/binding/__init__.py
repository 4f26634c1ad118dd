"""Binding: from a decision to bound pods, gang by gang, and back to what came of it."""
