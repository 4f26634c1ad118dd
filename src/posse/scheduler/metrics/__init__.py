"""Metrics: figures for whoever watches, read off the world and off what cycles have come to."""
