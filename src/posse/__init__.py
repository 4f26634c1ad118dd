"""Posse: gang scheduling for Kubernetes. Pods that belong together start together or not at all."""

__version__ = "0.1.0"
