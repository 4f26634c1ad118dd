"""`posse simulate --batch`: a scenario per line in, a result per line out."""

import json
from typing import Any

from tests.cli.manifests import Manifest, job, node, pod
from tests.cli.posse import Posse


def line(name: str, *objects: Manifest, **more: Any) -> str:
    return json.dumps({"id": name, "objects": objects, "conf": "actions: allocate", **more}) + "\n"


def answers(posse: Posse, *lines: str, words: tuple[str, ...] = ()) -> list[Any]:
    result = posse("simulate", "--batch", *words, stdin="".join(lines))
    assert result.exit_code == 0, result.output
    return [json.loads(each) for each in result.stdout.splitlines()]


def test_results_come_in_the_order_of_their_lines(posse: Posse) -> None:
    lines = [line(f"s{number}", node(f"n{number}"), pod("p")) for number in range(3)]

    binds = [(each["id"], each["binds"]) for each in answers(posse, *lines)]

    assert binds == [(f"s{number}", {"default/p": f"n{number}"}) for number in range(3)]


def test_a_bad_line_is_answered_with_its_error_and_the_next_is_read(posse: Posse) -> None:
    bad = pod("p", cpu="four")

    first, second, third = answers(posse, line("bad", bad), "not json\n", line("good", node("n"), pod("p")))

    assert first["id"] == "bad"
    assert first["error"]["object"] == "Pod default/p"
    assert first["error"]["field"].endswith("resources.requests.cpu")
    assert second["id"] is None
    assert second["error"]["message"].startswith("is no JSON")
    assert third["binds"] == {"default/p": "n"}


def test_empty_lines_are_passed_over(posse: Posse) -> None:
    assert [each["id"] for each in answers(posse, "\n", line("one", node("n")), "\n")] == ["one"]


def test_flags_stand_in_for_what_a_line_leaves_out(posse: Posse) -> None:
    conf = posse.file("idle.conf", "actions: enqueue\n")
    plain = json.dumps({"id": "x", "objects": [node("n"), pod("p")]}) + "\n"

    quiet, own = answers(posse, plain, line("y", node("n"), pod("p")), words=("--config", conf, "--cycles", "3"))

    assert (quiet["binds"], quiet["cycles"]) == ({}, 3)
    assert (own["binds"], own["cycles"]) == ({"default/p": "n"}, 3)


def test_what_a_line_says_beats_the_flags(posse: Posse) -> None:
    (answer,) = answers(posse, line("x", node("n"), cycles=2), words=("--cycles", "5"))

    assert answer["cycles"] == 2


def test_scenarios_do_not_see_each_other(posse: Posse) -> None:
    full = line("full", node("n", 1), job("j", 1))
    again = line("again", node("n", 1), job("j", 1))

    first, second = answers(posse, full, again)

    assert {**first, "id": ""} == {**second, "id": ""}
