"""Quantities are read exactly, whatever their spelling, and written as Kubernetes writes them."""

from decimal import ROUND_CEILING, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.errors import InputError
from posse.kube.quantity import LARGEST, amount, amounts, format_amount, in_order, parse


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("0", 0),
        ("1", 1000),
        ("100m", 100),
        ("1.5", 1500),
        (".5", 500),
        ("1.", 1000),
        ("+1", 1000),
        ("-0", 0),
        ("2e3", 2_000_000),
        ("2E3", 2_000_000),
        ("1e-3", 1),
        ("1e+1", 10_000),
        ("1k", 1_000_000),
        ("1Ki", 1_024_000),
        ("0.5Mi", 524_288_000),
        ("1M", 10**9),
    ],
)
def test_every_legal_spelling_of_an_amount_is_read(text: str, milli: int) -> None:
    assert parse(text, 1000) == milli


def test_a_capital_e_alone_means_exa_and_before_digits_an_exponent() -> None:
    assert (parse("1E", 1), parse("1E2", 1)) == (10**18, 100)


@pytest.mark.parametrize(("text", "milli"), [("1n", 1), ("1u", 1), ("1.0001", 1001), ("1e-300", 1), ("100001u", 101)])
def test_what_is_smaller_than_the_unit_is_rounded_up(text: str, milli: int) -> None:
    assert parse(text, 1000) == milli


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", ".", "1i", "1.1.1", "1mi", "1E2k", "1e", "0x10", "1_000", "١", "NaN", "1" * 65, "four"]
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        parse(text, 1)


@pytest.mark.parametrize("text", ["-1", "-1m", "-1e-30"])
def test_a_negative_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is negative"):
        parse(text, 1)


@pytest.mark.parametrize("text", ["9223372036854775808", "8Ei", "10E", "1e100", "1e999999999999"])
def test_an_amount_beyond_64_bits_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is too large"):
        parse(text, 1)


def test_the_largest_integer_fits() -> None:
    assert parse(str(LARGEST), 1) == LARGEST


@pytest.mark.parametrize(
    ("resource", "quantity", "units"),
    [
        ("cpu", "2", 2000),
        ("nvidia.com/gpu", "2", 2000),
        ("memory", "1Ki", 1024),
        ("ephemeral-storage", "1k", 1000),
        ("hugepages-2Mi", "2Mi", 2 * 2**20),
        ("pods", "3", 3),
        ("count/jobs.batch", "3", 3),
        ("requests.cpu", "3", 3000),
        ("requests.memory", "3", 3),
        ("limits.ephemeral-storage", "3", 3),
        ("requests.nvidia.com/gpu", "3", 3000),
        ("fast.storageclass.storage.k8s.io/requests.storage", "3", 3),
        ("fast.storageclass.storage.k8s.io/persistentvolumeclaims", "3", 3),
        ("volcano.sh/gpu-memory", "3", 3000),
    ],
)
def test_each_resource_has_its_unit(resource: str, quantity: str, units: int) -> None:
    assert amount(resource, quantity) == units


def test_a_bare_number_means_what_its_text_means() -> None:
    assert (amount("cpu", 2), amount("cpu", 0.1), amount("memory", 1e9)) == (2000, 100, 10**9)


def test_a_bad_quantity_is_reported_with_object_and_field() -> None:
    with pytest.raises(InputError) as caught:
        amounts({"cpu": "lots"}, "Pod ns/p", "spec.containers[0].resources.requests")

    fault = caught.value
    assert (fault.place.object, fault.place.field) == ("Pod ns/p", "spec.containers[0].resources.requests.cpu")
    assert "a quantity such as" in fault.accepted


@pytest.mark.parametrize(
    ("resource", "units", "text"),
    [
        ("cpu", 4000, "4"),
        ("cpu", 500, "500m"),
        ("cpu", 1500, "1500m"),
        ("cpu", 0, "0"),
        ("memory", 4 * 2**30, "4Gi"),
        ("memory", 2100 * 2**20, "2100Mi"),
        ("memory", 1000, "1000"),
        ("pods", 110, "110"),
        ("nvidia.com/gpu", 8000, "8"),
        ("nvidia.com/gpu", 64_000_000, "64k"),
    ],
)
def test_amounts_are_written_in_kubernetes_canonical_form(resource: str, units: int, text: str) -> None:
    assert format_amount(resource, units) == text


RESOURCES = st.sampled_from(["cpu", "memory", "pods", "nvidia.com/gpu", "hugepages-1Gi", "requests.memory"])


@given(RESOURCES, st.integers(0, LARGEST))
def test_an_amount_that_is_written_and_read_again_is_the_same(resource: str, units: int) -> None:
    assert amount(resource, format_amount(resource, units)) == units


@given(st.decimals(0, 10**9, places=12), st.sampled_from(["", "m", "k", "M", "e2", "e-2"]))
def test_reading_equals_decimal_arithmetic_rounded_up(number: Decimal, suffix: str) -> None:
    scale = {"": "1", "m": "0.001", "k": "1000", "M": "1000000", "e2": "100", "e-2": "0.01"}[suffix]
    exact = number * Decimal(scale) * 1000

    assert parse(f"{number:f}{suffix}", 1000) == int(exact.to_integral_value(ROUND_CEILING))


def test_amounts_in_facts_are_sorted_by_name() -> None:
    assert in_order({"memory": 1, "cpu": 2}) == (("cpu", 2), ("memory", 1))
