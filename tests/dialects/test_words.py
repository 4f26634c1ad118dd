"""Pods that say the same say it in the same words."""

import msgspec

from posse.cluster.facts import Shape, TaskFact
from posse.dialects import words
from posse.dialects.words import Words

SAYS = {"a-label-of-many-pods-that-nobody-keeps": "train", "index": "1"}


def told(**more: object) -> TaskFact:
    """A task that shares nothing with any other."""
    fact = TaskFact(namespace="a", name="p", uid="u", shape=Shape(), labels=SAYS, annotations=SAYS, **more)  # type: ignore[arg-type]
    return msgspec.json.decode(msgspec.json.encode(fact), type=TaskFact)


def test_equal_words_are_one_word() -> None:
    known = Words()
    one, other = (known.retold(told(owner="Job/train")) for _ in range(2))

    assert one == other == told(owner="Job/train")
    assert one.owner is other.owner
    for ours, theirs in zip([*one.labels.items(), *one.annotations.items()], [*other.labels.items()] * 2, strict=True):
        assert (ours[0] is theirs[0], ours[1] is theirs[1]) == (True, True)


def test_words_are_forgotten_before_there_are_too_many() -> None:
    known = Words()
    once, again = ("".join(letters) for letters in (["a word"], ["a ", "word"]))
    first = known.known(once)
    for number in range(words.LATELY + 1):
        known.known(str(number))
    assert known.known(again) is first
    known.retold(told())

    assert known.known(again) is not first
