"""Lower the minimum: a gang that would ride with fewer."""

from posse.whatif import edits
from posse.whatif.explanation import Change, Remedy
from posse.whatif.search import Search


def lower_min(search: Search) -> list[Remedy]:
    """The smallest cut of the minimum with which the gang starts."""
    minimum = search.gang.minimum
    declaring = search.situation.declaring(search.gang.key)
    if minimum < 2 or not declaring:
        return []
    has = search.gang.ready_count + search.gang.waiting_count + len(search.finding.placed)

    def cut(by: int) -> Change:
        return Change(tuple(edits.with_minimum(manifest, minimum - by) for manifest in declaring))

    by = search.least(cut, minimum - max(1, has), minimum - 1)
    if by is None:
        search.tried.append("a lower minimum")
        return []
    named = " and ".join(edits.name_of(manifest) for manifest in declaring)
    message = f"a minimum of {minimum - by} instead of {minimum} in {named}"
    return [Remedy(action="lower-min", message=message, patch=cut(by).patch)]
