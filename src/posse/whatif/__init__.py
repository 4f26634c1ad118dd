"""Worlds that might be: forks, and remedies proven on them."""
