"""What gangs are called in results: `namespace/name`, and the dialect added only where two dialects claim one name."""

from posse.cluster.world import World


class GangNames:
    """Names of all gangs of one world."""

    def __init__(self, world: World) -> None:
        self._keys = frozenset(world.gangs.keys)

    def shown(self, key: str) -> str:
        """The name that a gang is shown by."""
        short, _, dialect = key.partition(" (")
        return short if dialect and short not in self._keys else key

    def key_of(self, name: str) -> str | None:
        """The key of the gang that is shown by a name."""
        if name in self._keys:
            return name
        return next((key for key in sorted(self._keys) if key and self.shown(key) == name), None)
