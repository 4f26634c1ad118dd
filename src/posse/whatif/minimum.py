"""Lower the minimum: a gang that would ride with fewer, members or whole sub-gangs."""

from collections.abc import Sequence

from posse.whatif import counting, edits
from posse.whatif.explanation import Change, Manifest, Remedy
from posse.whatif.search import Search


def lower_min(search: Search) -> list[Remedy]:
    """The smallest cut of the minimum with which the gang starts."""
    declaring = search.situation.declaring(search.gang.key)
    if not declaring:
        return []
    return _fewer_groups(search, declaring) if search.gang.fact.subgroups else _fewer_members(search, declaring)


def _fewer_members(search: Search, declaring: Sequence[Manifest]) -> list[Remedy]:
    minimum = search.gang.minimum
    has = search.gang.ready_count + search.gang.waiting_count + len(search.finding.placed)

    def cut(by: int) -> Change:
        return Change(tuple(edits.with_minimum(manifest, minimum - by) for manifest in declaring))

    first, limit = max(1, minimum - _most(search)), minimum - 1
    by = search.smallest(cut, first, max(first, minimum - max(1, has)), limit) if first <= limit else None
    if by is None:
        if minimum > 1:
            search.tried.append("a lower minimum")
        return []
    message = f"a minimum of {minimum - by} instead of {minimum} in {_named(declaring)}"
    return [Remedy(action="lower-min", message=message, patch=cut(by).patch)]


def _fewer_groups(search: Search, declaring: Sequence[Manifest]) -> list[Remedy]:
    """Fewer sub-gangs, and as many members fewer as that makes."""
    policies, minimum = search.gang.fact.subgroups, search.gang.minimum
    written = all(len(manifest.get("spec", {}).get("subGroupPolicy", ())) == 1 for manifest in declaring)
    if len(policies) != 1 or not written or policies[0].min_groups < 2:
        return []
    groups, size = policies[0].min_groups, max(1, policies[0].size)
    has = (search.gang.ready_count + search.gang.waiting_count + len(search.finding.placed)) // size

    def cut(by: int) -> Change:
        fewer = min(minimum, (groups - by) * size)
        return Change(tuple(edits.with_groups(manifest, groups - by, fewer) for manifest in declaring))

    first, limit = max(1, groups - _most(search) // size), groups - 1
    by = search.smallest(cut, first, max(first, groups - max(1, has)), limit) if first <= limit else None
    if by is None:
        search.tried.append("fewer sub-groups")
        return []
    left = "1 sub-group" if groups - by == 1 else f"{groups - by} sub-groups"
    message = f"a minimum of {left} instead of {groups} in {_named(declaring)}"
    return [Remedy(action="lower-min", message=message, patch=cut(by).patch)]


def _most(search: Search) -> int:
    """How many members could have a node, by counting."""
    gang, members = search.gang, counting.placeable(search.gang)

    def more() -> int:
        feasibility = search.situation.engine.open(search.situation.now).chooser.feasibility
        return min(len(members), int(counting.held(gang.world, feasibility, members).sum()))

    return gang.ready_count + gang.waiting_count + (search.ask(more, otherwise=len(members)) if members else 0)


def _named(declaring: Sequence[Manifest]) -> str:
    return " and ".join(edits.name_of(manifest) for manifest in declaring)
