"""Live: the scheduler at work on a cluster, with the Kubernetes API at both ends."""
