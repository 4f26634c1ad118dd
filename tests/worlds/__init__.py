"""Made-up clusters for tests and benchmarks, as facts: the same seed gives the same world, wherever it runs."""
