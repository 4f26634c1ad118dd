"""The plain reference: the default scheduling rules as a person would say them, one task and one node at a time.

The engine answers for all nodes at once, keeps what it knows and patches it; this package does none of that. It is
slow on purpose and reads the facts alone, so that an error would have to be made twice, in two shapes, to go unseen.
Tests and benchmarks hold the engine to it.
"""
