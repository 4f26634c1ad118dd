"""`python -m bench.cluster`: B2, from created to bound on a real API server.

The null binder (pods listed before, round robin, 64 in flight) gives the ceiling C of this machine at this moment, so
it runs beside every run of the scheduler, and what counts is the ratio. Rounds in which others took more than a tenth
of the machine say little; the column `others` tells. Another scheduler is measured by the same clock:

    python -m bench.cluster --name default-scheduler --command "kube-scheduler --kubeconfig {kubeconfig} ..."
"""

import argparse
import sys

from msgspec import structs

from bench.cluster.load import shape_of
from bench.cluster.runs import NULL, POSSE, Peer, Run, available, run
from bench.report import record, table

SHAPES = ("500x20", "20x500", "1x10000", "10000x1")
COLUMNS = (
    "shape",
    "mode",
    "who",
    "bound",
    "first s",
    "seconds",
    "pods/s",
    "of C",
    "gang p50",
    "p99 s",
    "writes/pod",
    "CPU ms/pod: scheduler",
    "client",
    "apiserver",
    "etcd",
    "others",
)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--shapes", nargs="*", default=SHAPES, help="gangs x pods")
    parser.add_argument("--modes", nargs="*", choices=["drain", "open"], default=["drain", "open"])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=0.0, help="pods a second in open loop; 0: as fast as they go")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--name", default="posse", help="the schedulerName of another scheduler")
    parser.add_argument("--command", default="", help="how another scheduler is started")
    given = parser.parse_args()
    if not available():
        sys.exit("no control plane can be built here")
    peer = Peer(given.name, given.command) if given.command else POSSE
    results: list[tuple[Run, float]] = []
    for shape in map(shape_of, given.shapes):
        for mode in given.modes:
            for _ in range(given.rounds):
                ceiling = run(NULL, shape, mode, given.nodes, given.rate)
                found = run(peer, shape, mode, given.nodes, given.rate)
                results += [(ceiling, 1.0), (found, found.rate / ceiling.rate)]
    note = f"{given.nodes} nodes, no fsync, no fairness. `of C`: against the null binder of the same round."
    table("B2: from created to bound", note, COLUMNS, [_row(found, ratio) for found, ratio in results])
    record("B2", [{**structs.asdict(found), "of_ceiling": ratio} for found, ratio in results])


def _row(found: Run, ratio: float) -> list[str]:
    cpu = [f"{found.cpu_ms[name]:.2f}" if name in found.cpu_ms else "" for name in ("scheduler", "client")]
    cpu += [f"{found.cpu_ms[name]:.2f}" for name in ("apiserver", "etcd")]
    return [
        found.shape,
        found.mode,
        found.peer,
        f"{found.bound:,}",
        f"{found.first:.1f}",
        f"{found.seconds:.1f}",
        f"{found.rate:,.0f}",
        f"{ratio:.2f}",
        f"{found.p50:.2f}",
        f"{found.p99:.2f}",
        f"{found.writes:.2f}",
        *cpu,
        f"{found.others:.2f}",
    ]


if __name__ == "__main__":
    main()
