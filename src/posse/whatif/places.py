"""The places that a gang has to fill to start: so many in all, some of them for members of one role. One that has
started would fill one more.

A member of a role that has enough may fill a place that is for anybody, but not one that another role needs.
"""

from posse.cluster.views import Gang


class OpenPlaces:
    """The places of a gang that nobody fills yet, by a node or the promise of one."""

    def __init__(self, gang: Gang) -> None:
        roles = gang.roles if gang.fact.min_roles and gang.roles_count else {}
        short = {name: role.minimum - role.ready_count - role.waiting_count for name, role in roles.items()}
        self._of_roles = {name: count for name, count in short.items() if count > 0}
        groups = sum(policy.min_groups * max(1, policy.size) for policy in gang.fact.subgroups)
        left = max(gang.minimum, groups) - gang.ready_count - gang.waiting_count
        self.count = max(0, left, sum(self._of_roles.values())) or int(gang.is_ready)
        """How many are open."""

    def suits(self, role: str) -> bool:
        """Whether a member of this role, if it has one, can fill one of them."""
        return role in self._of_roles or self.count > sum(self._of_roles.values())

    def fill(self, role: str) -> None:
        """Let a member fill one."""
        self.count -= 1
        if role in self._of_roles:
            self._of_roles[role] -= 1
            if not self._of_roles[role]:
                del self._of_roles[role]
