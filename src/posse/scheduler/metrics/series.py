"""Series: one figure under a name and labels, as Prometheus knows them.

A series is a value, made when somebody reads the metrics. There is no registry that keeps it, so nothing has to be
taken back when a gang or a queue goes. Names are Volcano's (`volcano_...`) where the figure means what it means there,
else our own (`posse_...`).
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from posse.cluster.facts import Amounts, GangFact
from posse.cluster.world import World

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Series(Struct, frozen=True):
    """A figure. Labels are sorted by name."""

    name: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """Name and labels, as Prometheus writes them."""
        labels = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in self.labels)
        return f"{self.name}{{{labels}}}" if labels else self.name


def series(name: str, value: float, **labels: str) -> Series:
    """Make a series."""
    return Series(name, float(value), tuple(sorted(labels.items())))


def as_record(found: Iterable[Series]) -> dict[str, float]:
    """Figures by name and labels, sorted."""
    return {each.key: each.value for each in sorted(found, key=lambda each: each.key)}


def gang_labels(world: World, gang: GangFact) -> dict[str, str]:
    """The labels that tell a gang from all others.

    Volcano's series often have the name alone (`job_id`), which gangs of two namespaces may share: `job_ns` tells them
    apart.
    """
    is_claimed_twice = gang.key != f"{gang.namespace}/{gang.name}" and f"{gang.namespace}/{gang.name}" in world.gangs
    name = gang.key.removeprefix(f"{gang.namespace}/") if is_claimed_twice else gang.name
    return {"job_ns": gang.namespace, "job_id": name}


def queue_amounts(figure: str, queue: str, amounts: Amounts) -> Iterator[Series]:
    """Amounts of a queue, as Volcano divides them: cpu in milli, memory in bytes, everything else by its name."""
    given = dict(amounts)
    yield series(f"volcano_queue_{figure}_milli_cpu", given.pop("cpu", 0), queue_name=queue)
    yield series(f"volcano_queue_{figure}_memory_bytes", given.pop("memory", 0), queue_name=queue)
    for resource, amount in given.items():
        yield series(f"volcano_queue_{figure}_scalar_resources", amount, queue_name=queue, resource=resource)
