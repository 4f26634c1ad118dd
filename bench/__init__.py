"""Benchmarks: what deciding costs, with no API in the way. `python -m bench --help` lists them."""
