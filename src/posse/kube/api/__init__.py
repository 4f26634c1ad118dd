"""Talking to an API server: who and where (`access`), requests (`client`), what is told without asking (`watching`).

The only part of `kube` that opens sockets, reads clocks and draws lots; clocks and lots are arguments.
"""
