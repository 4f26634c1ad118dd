"""How properties are tried: the same examples every time, and no verdict on how long they take."""

from hypothesis import HealthCheck, settings

settings.register_profile("posse", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("posse")
