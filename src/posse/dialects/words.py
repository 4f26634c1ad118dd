"""Words: what pods that are alike say in the same words is kept once.

Each object is decoded by itself, so each has a copy of its own of whatever it says, down to the names of its labels.
Siblings come one after the other, when they are listed as when they are made; so it is enough to know the words that
were heard lately. It is a memory, not a store: forgetting costs a second copy of a word, and nothing else.
"""

from collections.abc import Mapping

from msgspec import structs

from posse.cluster.facts import NO_LABELS, TaskFact

LATELY = 1 << 14
"""How many words are remembered before all are forgotten."""


class Words:
    """The words heard lately."""

    def __init__(self) -> None:
        self._heard: dict[str, str] = {}

    def known(self, word: str) -> str:
        """The word itself, or the equal one that was heard before."""
        return self._heard.setdefault(word, word)

    def retold(self, task: TaskFact) -> TaskFact:
        """The same task in words that are known, as far as others may share them."""
        if len(self._heard) > LATELY:
            self._heard.clear()
        return structs.replace(
            task,
            namespace=self.known(task.namespace),
            node=self.known(task.node),
            labels=self._map(task.labels),
            annotations=self._map(task.annotations),
            priority_class=self.known(task.priority_class),
            owner=self.known(task.owner),
        )

    def _map(self, words: Mapping[str, str]) -> Mapping[str, str]:
        known = self._heard.setdefault
        return {known(key, key): known(value, value) for key, value in words.items()} if words else NO_LABELS
