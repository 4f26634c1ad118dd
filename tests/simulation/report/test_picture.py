"""The picture of a cluster: cells of nodes, lettered by who uses them."""

from rich.console import Console

from posse.simulation.report.picture import Panel, letters, picture


def drawn(*panels: Panel) -> str:
    console = Console(width=80)
    gangs = list(dict.fromkeys(gang for panel in panels for gang, _ in panel.parts))
    with console.capture() as captured:
        console.print(picture(panels, letters(gangs)))
    return captured.get().strip()


def test_each_cell_is_an_eighth_of_a_node() -> None:
    assert drawn(Panel("n", (("ns/a", 0.5), ("ns/b", 0.25)))) == "n AAAABB··"


def test_who_uses_too_little_for_a_cell_has_none() -> None:
    assert drawn(Panel("n", (("ns/a", 0.01), ("ns/b", 1.0)))) == "n BBBBBBBB"


def test_gangs_with_the_same_initial_get_letters_of_their_own() -> None:
    marks = letters(["ns/train", "ns/tune", "ns/t"])

    assert [letter for letter, _ in marks.values()] == ["T", "U", "1"]
