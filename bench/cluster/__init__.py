"""B2: from created to bound on a real API server, against the leanest binder there could be."""
