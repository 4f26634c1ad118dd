"""Volume plans: what a decision means for a claim of a volume, as it travels from the scheduler to whoever carries it
out.
"""

import msgspec
from msgspec import Struct

from posse.cluster.records import Payload
from posse.cluster.storage_facts import VOLUME_CLAIM


class VolumePlan(Struct, frozen=True, omit_defaults=True):
    """Give a claim this volume, or, without one, have a volume made for it at this node.

    The uids say which claim and which volume are meant of those that ever had the names.
    """

    claim_uid: str
    volume: str = ""
    volume_uid: str = ""
    node: str = ""

    def for_claim(self, key: str) -> Payload:
        """The plan for the claim of this key."""
        return Payload(VOLUME_CLAIM, key, msgspec.json.encode(self).decode())


def plan_in(payload: Payload) -> VolumePlan:
    """The plan that a payload carries."""
    return msgspec.json.decode(payload.data, type=VolumePlan)
