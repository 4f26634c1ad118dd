"""How hard the properties are tried: the same examples on every run, as many as each is worth."""

from hypothesis import HealthCheck, settings


def tried(times: int) -> settings:
    """Try a property on so many examples."""
    return settings(
        max_examples=times,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
