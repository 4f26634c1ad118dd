"""What a watch missed, read back from the store.

A server that was restarted remembers nothing, and refuses to go on from before its start; a list shows what there is
now, and not what there was in between. But the store keeps old revisions for minutes, and a list of one name at an
exact revision is answered from there. So each object that is not as it was is followed back, version by version. Only
what came and went within the gap leaves no name to ask for.
"""

from collections.abc import Callable, Iterator

from tests.cluster.checker.events import Object, revision

Version = tuple[int, Object | None]
"""What an object became at a revision; nothing, if it was deleted."""


def between(
    read: Callable[[int], Object | None], low: int, old: Object | None, high: int, new: Object | None
) -> Iterator[Version]:
    """Give the versions of one name after `low`, where it was old, up to `high`, where it is new, in order."""
    if new is not None:
        made = revision(new)
        if made > low:
            yield from between(read, low, old, made - 1, read(made - 1) if made - 1 > low else old)
            yield made, new
    elif old is not None:
        last, gone, found = low, high, old
        while gone - last > 1:
            middle = (last + gone) // 2
            if seen := read(middle):
                last, found = middle, seen
            else:
                gone = middle
        yield from between(read, low, old, last, found)
        yield gone, None
