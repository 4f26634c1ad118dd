"""Objects are decoded strictly; what does not fit is explained by field, with what would."""

from typing import Any

import msgspec
import pytest

from posse.errors import InputError, Place
from posse.kube.decoding import decode
from posse.kube.encoding import manifest_of
from posse.kube.meta import instant, rfc3339
from posse.kube.objects import Deployment, Node, Pod, PodGroup
from tests.kube.builders import NOW, pod, pod_group

SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def raw_pod(**body: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, **body}))


def refusal(**body: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        decode(raw_pod(**body), Pod, Place())
    return caught.value


def test_null_means_absent_as_in_kubernetes() -> None:
    body = raw_pod(spec={"containers": None, "nodeName": None, "affinity": {"podAffinity": None}}, status=None)

    assert decode(body, Pod, Place()) == pod("a", "", containers=[])


def test_fields_that_nobody_reads_are_skipped() -> None:
    body = raw_pod(spec={"containers": [], "dnsPolicy": "Default", "new": {"of": ["any", "form"]}})

    assert decode(body, Pod, Place()) == pod("a", "", containers=[])


def test_a_wrong_type_names_field_and_accepted_type() -> None:
    fault = refusal(spec={"priority": "high"})

    assert (fault.place.object, fault.place.field) == ("Pod default/a", "spec.priority")
    assert fault.accepted == "a whole number from -2147483648 to 2147483647"


def test_a_word_that_is_not_among_those_known_gets_the_list() -> None:
    fault = refusal(spec={"tolerations": [{}, {"operator": "Is"}]})

    assert fault.place.field == "spec.tolerations[1].operator"
    assert fault.accepted == "Equal, Exists, Gt, Lt"


def test_a_quantity_that_is_neither_text_nor_number_is_explained() -> None:
    fault = refusal(spec={"containers": [{"resources": {"requests": {"cpu": [1]}}}]})

    assert fault.place.field == "spec.containers[0].resources.requests.cpu"
    assert fault.accepted.startswith("a quantity such as")


def test_of_many_entries_of_a_map_the_wrong_one_is_named() -> None:
    good, bad = {"cpu": 1, "memory": "1Gi"}, {"cpu": 1, "example.com/card": True}
    fault = refusal(spec={"containers": [{"resources": {"requests": good}}, {"resources": {"requests": bad}}]})

    assert fault.place.field == "spec.containers[1].resources.requests.example.com/card"
    assert fault.accepted.startswith("a quantity such as")


def test_an_object_is_named_with_the_namespace_that_it_will_be_in() -> None:
    assert refusal(metadata={"name": "a", "namespace": "ns"}, spec=5).place.object == "Pod ns/a"
    with pytest.raises(InputError) as caught:
        decode({"kind": "Node", "metadata": {"name": "n"}, "spec": 5}, Node, Place())
    assert caught.value.place.object == "Node n"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"topologySpreadConstraints": [SPREAD | {"maxSkew": 0}]}, "spec.topologySpreadConstraints[0].maxSkew"),
        ({"topologySpreadConstraints": [SPREAD | {"minDomains": 0}]}, "spec.topologySpreadConstraints[0].minDomains"),
        ({"containers": [{"ports": [{"hostPort": 99999}]}]}, "spec.containers[0].ports[0].hostPort"),
        (
            {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 101}]}}},
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
        ),
    ],
)
def test_a_number_that_an_api_server_would_not_take_is_refused(spec: dict[str, Any], field: str) -> None:
    fault = refusal(spec=spec)

    assert fault.place.field == field
    assert fault.accepted.startswith("a whole number from")


def test_a_label_that_is_no_text_is_refused() -> None:
    fault = refusal(metadata={"name": "a", "labels": {"x": 5}})

    assert (fault.message, fault.accepted) == ("expected str, got int", "text")


def test_a_number_that_fits_no_api_field_is_refused() -> None:
    with pytest.raises(InputError, match=r"PodGroup default/g, spec.minMember"):
        pod_group(minMember=2**40)


def test_a_replica_count_beyond_reason_is_refused() -> None:
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 10**9}}

    with pytest.raises(InputError, match="from 0 to 1000000"):
        decode(body, Deployment, Place())


def test_an_object_can_be_written_as_a_manifest_and_read_again() -> None:
    before = pod("a", "ns", nodeName="n", tolerations=[{"key": "x", "operator": "Exists"}])
    written = manifest_of(before)

    assert (written["apiVersion"], written["kind"]) == ("v1", "Pod")
    assert decode(written, Pod, Place()) == before


def test_pod_groups_keep_an_absent_minimum_of_resources_apart_from_an_empty_one() -> None:
    absent, empty = pod_group(), pod_group(minResources={})

    assert isinstance(absent, PodGroup)
    assert (absent.spec.min_resources, empty.spec.min_resources) == (None, {})


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("", 0),
        ("0001-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01Z", 10**9),
        ("2026-01-01T00:00:00Z", NOW),
        ("2026-01-01T01:00:00+01:00", NOW),
        ("2026-01-01T00:00:00.000001Z", NOW + 1000),
    ],
)
def test_times_are_nanoseconds_since_the_epoch(text: str, nanoseconds: int) -> None:
    assert instant(text) == nanoseconds


@pytest.mark.parametrize("text", ["yesterday", "2026-01-01T00:00:00", "1969-12-31T23:59:59Z", "9999-01-01T00:00:00Z"])
def test_what_is_no_time_is_refused_by_field(text: str) -> None:
    with pytest.raises(InputError, match=r"Pod default/p, metadata.creationTimestamp: .* is no time"):
        _ = pod(metadata={"creationTimestamp": text}).created


def test_times_are_written_to_the_second() -> None:
    assert (rfc3339(NOW + 5), rfc3339(0)) == ("2026-01-01T00:00:00Z", "")
