"""Overcommit: how much more than the cluster holds is admitted."""
