"""The exposition: figures in the text form that Prometheus reads, and histograms to make figures of what takes time.

The form is a line for each series, and one before each family of them that says what kind it is. So little is no
library's worth; the values are those that `scheduler.metrics` makes, when somebody asks for them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import accumulate
from math import inf, isnan

from posse.scheduler.metrics.series import Series

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """How many values there were up to each bound, and their sum. Bounds ascend."""

    def __init__(self, name: str, bounds: tuple[float, ...]) -> None:
        self.name, self._bounds = name, (*bounds, inf)
        self._counts = [0] * len(self._bounds)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def series(self) -> Iterable[Series]:
        """Give the figures, in the order in which they must stand."""
        counts = list(accumulate(self._counts))
        for bound, count in zip(self._bounds, counts, strict=True):
            yield Series(f"{self.name}_bucket", count, (("le", _number(bound)),))
        yield Series(f"{self.name}_sum", self._sum)
        yield Series(f"{self.name}_count", counts[-1])


def exposed(figures: Mapping[str, float], histograms: Iterable[Histogram]) -> str:
    """Write figures, by name and labels, and histograms. What is counted up has a name that ends with `_total`."""
    families: dict[str, list[str]] = {}
    for key, value in figures.items():
        families.setdefault(key.partition("{")[0], []).append(f"{key} {_number(value)}")
    lines: list[str] = []
    for name, samples in families.items():
        lines += [f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}", *samples]
    for histogram in histograms:
        lines.append(f"# TYPE {histogram.name} histogram")
        lines += [f"{each.key} {_number(each.value)}" for each in histogram.series()]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    if isnan(value):
        return "NaN"
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(value)
