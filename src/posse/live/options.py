"""How a scheduler on a cluster runs, as its command line says."""

from msgspec import Struct

from posse.live.listening import Address
from posse.live.reloading import Source


class ServiceOptions(Struct, frozen=True, kw_only=True):
    """How a scheduler runs."""

    scheduler_names: tuple[str, ...] = ("posse",)
    dry_run: bool = False
    """Decide and say, and change nothing."""
    lease_namespace: str = "kube-system"
    lease_name: str = "posse"
    identity: str = "posse"
    elects: bool = True
    """Whether there may be others of its name, of which one leads."""
    drain_seconds: float = 30.0
    listen: Address | None = None
    source: Source | None = None
    """The configuration's file, if there is one to keep in step with."""
