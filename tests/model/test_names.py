"""Names get numbers, and keep them."""

from posse.cluster.names import Dimensions, Register


def test_every_world_has_three_dimensions_and_the_others_follow_as_they_are_met() -> None:
    dimensions = Dimensions()
    dimensions.learn((("example.com/b", 1), ("cpu", 2), ("example.com/a", 1)))

    assert dimensions.names == ["cpu", "memory", "pods", "example.com/b", "example.com/a"]
    assert (dimensions.known("example.com/a"), dimensions.known("unheard-of")) == (4, None)


def test_a_copy_of_dimensions_learns_alone() -> None:
    dimensions = Dimensions()
    copy = dimensions.fork()
    copy.number("example.com/a")

    assert (len(dimensions), len(copy)) == (3, 4)


def register(*keys: str) -> Register[str]:
    made: Register[str] = Register()
    for key in keys:
        made.put(made.add(key), f"fact of {key}")
    return made


def test_a_key_has_one_row() -> None:
    known = register("b", "a")

    assert known.add("a") == known.find("a") == 1
    assert known.find("c") == -1
    assert ("b" in known, "c" in known) == (True, False)


def test_rows_are_listed_by_key() -> None:
    known = register("b", "c", "a")
    known.put(known.find("c"), None)

    assert [known.keys[row] for row in known.rows()] == ["a", "b", "c"]
    assert [known.keys[row] for row in known.declared()] == ["a", "b"]


def test_a_free_row_is_used_again() -> None:
    known = register("a", "b")
    known.release(known.find("a"))

    assert known.facts[0] is None
    assert known.add("c") == 0
    assert len(known) == 2


def test_a_copy_and_its_original_change_alone() -> None:
    known = register("a", "b")
    copy = known.fork()
    copy.release(copy.find("a"))
    known.put(known.find("b"), "another")

    assert (known.find("a"), copy.find("a")) == (0, -1)
    assert (known.facts[1], copy.facts[1]) == ("another", "fact of b")


def test_copies_of_copies_do_too() -> None:
    known = register("a")
    first = known.fork()
    second = first.fork()
    first.add("b")
    second.add("c")

    assert [sorted(key for key in "abc" if key in each) for each in (known, first, second)] == [
        ["a"],
        ["a", "b"],
        ["a", "c"],
    ]
