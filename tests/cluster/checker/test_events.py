"""What was seen can be written down, broken off, and read again."""

import ast
from pathlib import Path

from tests.cluster.checker.events import Type, read, write
from tests.cluster.checker.tape import Tape

HERE = Path(__file__).parent


def told() -> Tape:
    tape = Tape()
    tape.node("n1")
    tape.pod("a")
    tape.wait(0.25)
    tape.bind("a", "n1")
    tape.mark(Type.ASKED, name="team/a")
    tape.delete("a")
    return tape


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "seen", told().end())

    assert list(read(tmp_path / "seen")) == told().end()


def test_a_line_that_was_broken_off_is_left_out(tmp_path: Path) -> None:
    whole = told().end()
    write(tmp_path / "seen", whole)
    text = (tmp_path / "seen").read_text()

    (tmp_path / "seen").write_text(text[:-10])

    assert list(read(tmp_path / "seen")) == whole[:-1]


def test_the_checker_knows_nothing_of_what_it_checks() -> None:
    imported = {
        name
        for path in HERE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *(it.name for it in node.names)]
    }

    assert not any(name.split(".")[0] == "posse" for name in imported)
