"""Volumes: where a pod's claims of volumes let it go, and which volume each of them gets there."""
