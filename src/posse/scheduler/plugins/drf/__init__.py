"""Dominant resource fairness: whose greatest share is the smallest goes first."""
