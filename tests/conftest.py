"""For all tests: how properties are tried (the same examples every time, and no verdict on how long they take), and the
control plane that a test gets by asking for it."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.cluster.fixtures"]

settings.register_profile("posse", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("posse")
