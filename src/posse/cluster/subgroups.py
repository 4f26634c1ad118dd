"""Sub-gangs: how a gang's policies divide its members.

A member belongs to the first policy whose selector it matches and all of whose keys it has a value for; members with
equal values form one sub-gang. Whoever matches no policy is in the gang's rest, a sub-gang of its own with a minimum of
one. A gang without policies has no sub-gangs: it is one.
"""

from msgspec import Struct

from posse.cluster.facts import GangFact, SubgroupPolicy, TaskFact

REST_MINIMUM = 1


class SubGang(Struct, frozen=True, gc=False):
    """One division of a gang. `policy` is empty for the rest."""

    policy: str = ""
    values: tuple[str, ...] = ()
    minimum: int = REST_MINIMUM

    @property
    def index(self) -> int:
        """The number that its first value is, 0 if it is none: the order of sub-gangs falls back to it."""
        if not self.values:
            return 0
        first = self.values[0]
        digits = first[1:] if first[:1] in "+-" else first
        return int(first) if digits.isascii() and digits.isdecimal() else 0

    @property
    def name(self) -> str:
        """How people call it."""
        return "-".join((self.policy, *self.values)) if self.policy else "rest"


REST = SubGang()


def subgang_of(gang: GangFact, task: TaskFact) -> SubGang:
    """The sub-gang that a member falls into."""
    for policy in gang.subgroups:
        values = _values(policy, task)
        if values is not None and (values or gang.rules.selector_alone_groups):
            return SubGang(policy.name, values, policy.size)
    return REST


def _values(policy: SubgroupPolicy, task: TaskFact) -> tuple[str, ...] | None:
    """The values that tell this member's sub-gang from others of the policy; None if the policy is not for it."""
    if policy.selector is None and not policy.match_keys:
        return None
    if policy.selector is not None and not policy.selector.matches(task.labels):
        return None
    values = tuple(task.labels.get(key, "") for key in policy.match_keys)
    return values if all(values) else None
