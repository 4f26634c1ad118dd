"""Proportion: what each queue deserves of the cluster, by its weight."""
