"""Nodes as a table: the resources that matter, and many nodes by their shape."""

from rich.console import Console

from posse.simulation.report.nodes import nodes


def node(used: str = "0", **allocatable: str) -> dict[str, dict[str, str]]:
    return {"used": {"cpu": used}, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", **allocatable}}


def told(**every: dict[str, dict[str, str]]) -> list[str]:
    console = Console(width=120, highlight=False)
    with console.capture() as captured:
        console.print(*nodes({"nodes": every}), sep="\n")
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_node_has_a_bar_for_each_main_resource() -> None:
    assert told(n=node(used="2")) == [
        "",
        "NODES",
        "node  cpu           memory",
        "n     ████░░░░ 2/4  ░░░░░░░░ 0/8Gi",
    ]


def test_what_a_node_does_not_have_is_left_open() -> None:
    last = told(a=node(), b=node(**{"nvidia.com/gpu": "8"}))[-2:]

    assert last[0].endswith("-")
    assert last[1].endswith("0/8")


def test_alike_nodes_are_added_up_when_there_are_many() -> None:
    rows = told(**{f"n{number}": node(used="1") for number in range(20)})

    assert rows[3:] == ["n* (20)  ██░░░░░░ 20/80  ░░░░░░░░ 0/160Gi"]
