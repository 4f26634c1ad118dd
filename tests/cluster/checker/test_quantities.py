"""What a pod takes is what Kubernetes says it takes."""

from fractions import Fraction
from typing import Any

import pytest

from tests.cluster.checker.quantities import quantity, taken


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("2", 2),
        ("+2", 2),
        ("-3", -3),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("100m", Fraction(1, 10)),
        ("5u", Fraction(5, 10**6)),
        ("5n", Fraction(5, 10**9)),
        ("3k", 3000),
        ("3Ki", 3072),
        ("1.5Gi", 3 * 2**29),
        ("2E", 2 * 10**18),
        ("2Ei", 2**61),
        ("2e3", 2000),
        ("2E3", 2000),
        ("25e-1", Fraction(5, 2)),
    ],
)
def test_quantities_are_exact(text: str, value: Fraction) -> None:
    assert quantity(text) == value


@pytest.mark.parametrize("text", ["", "m", "1 Gi", "1gi", "1K", "0x10", "1e", "1_000"])
def test_other_texts_are_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def container(cpu: int, **more: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


def sidecar(cpu: int) -> dict[str, Any]:
    return container(cpu, restartPolicy="Always")


@pytest.mark.parametrize(
    ("init", "containers", "more", "cpu"),
    [
        ([], [container(1), container(2)], {}, 3),
        ([container(2)], [container(1)], {}, 2),
        ([container(2), container(3)], [container(1)], {}, 3),
        ([sidecar(2)], [container(1)], {}, 3),
        ([sidecar(2), container(5)], [container(1)], {}, 7),
        ([container(5), sidecar(2)], [container(1)], {}, 5),
        ([sidecar(2), sidecar(3)], [container(1)], {}, 6),
        ([], [container(1)], {"overhead": {"cpu": "250m"}}, Fraction(5, 4)),
        ([], [container(1)], {"resources": {"requests": {"cpu": "4"}}, "overhead": {"cpu": 1}}, 5),
        ([], [{}, {"resources": {}}], {}, 0),
    ],
)
def test_a_pod_takes_what_it_takes_at_its_peak(init: Any, containers: Any, more: Any, cpu: Fraction) -> None:
    spec = {"initContainers": init, "containers": containers, **more}

    assert taken(spec).get("cpu", 0) == cpu
    assert taken(spec)["pods"] == 1
