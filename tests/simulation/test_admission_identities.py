"""Who is who: namespaces, names, uids and times for what has none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.errors import InputError
from posse.kube.meta import KubeObject
from posse.simulation.admission import Admission
from posse.simulation.identities import identity_of
from tests.kube.builders import NOW, node, pod, thing

SECOND = 10**9


def born(*things: KubeObject) -> list[KubeObject]:
    return Admission().admit(things, NOW)


def test_an_object_without_namespace_is_in_the_default_one_and_a_node_in_none() -> None:
    spaces = {one.kind_name: one.metadata.namespace for one in born(pod(namespace=""), node())}

    assert spaces == {"Pod": "default", "Node": ""}


def test_an_object_is_born_when_it_arrives_unless_it_says_when() -> None:
    old = pod("old", metadata={"creationTimestamp": "2025-01-01T00:00:00Z"})
    times = {one.metadata.name: one.metadata.creation_timestamp for one in born(old, pod("new"))}

    assert times == {"old": "2025-01-01T00:00:00Z", "new": "2026-01-01T00:00:00Z"}


def test_uids_count_up_in_natural_order_of_namespace_and_name() -> None:
    things = [pod("p-10", "b"), pod("p-2", "b"), pod("p-3", "a10"), pod("p-4", "a9")]
    by_uid = sorted(born(*things), key=lambda one: one.metadata.uid)

    assert [one.metadata.name for one in by_uid] == ["p-4", "p-3", "p-2", "p-10"]


def test_later_arrivals_get_later_uids() -> None:
    admission = Admission()
    (first,) = admission.admit([pod("z")], NOW)
    (second,) = admission.admit([pod("a")], NOW + SECOND)

    assert first.metadata.uid < second.metadata.uid


@given(st.permutations([pod(f"p-{number}") for number in range(6)]))
def test_the_order_of_the_input_does_not_matter(order: list[KubeObject]) -> None:
    assert born(*order) == born(*(pod(f"p-{number}") for number in range(6)))


def test_a_uid_that_is_given_stays() -> None:
    assert born(pod(metadata={"uid": "mine"}))[0].metadata.uid == "mine"


def test_an_object_that_is_applied_again_is_the_same_object() -> None:
    admission = Admission()
    (before,) = admission.admit([pod("p")], NOW)
    (after,) = admission.admit([pod("p", nodeSelector={"a": "b"})], NOW + SECOND)

    kept = (before.metadata.uid, before.metadata.creation_timestamp)
    assert (after.metadata.uid, after.metadata.creation_timestamp) == kept


def test_an_object_that_comes_after_one_was_deleted_is_another() -> None:
    admission = Admission()
    (before,) = admission.admit([pod("p")], NOW)
    admission.forget(identity_of(before))
    (after,) = admission.admit([pod("p")], NOW + SECOND)

    assert after.metadata.uid != before.metadata.uid
    assert after.metadata.creation_timestamp == "2026-01-01T00:00:01Z"


def test_an_object_of_another_uid_is_another_though_its_name_is_known() -> None:
    admission = Admission()
    admission.admit([pod("p", metadata={"uid": "one"})], NOW)
    (after,) = admission.admit([pod("p", metadata={"uid": "two"})], NOW + SECOND)

    assert after.metadata.creation_timestamp == "2026-01-01T00:00:01Z"


def test_two_kinds_named_job_are_two_objects() -> None:
    two = born(thing("batch/v1", "Job", "j"), thing("batch.volcano.sh/v1alpha1", "Job", "j"))

    assert len({one.metadata.uid for one in two}) == 2


def test_names_are_generated_from_what_objects_say_not_from_where_they_stood() -> None:
    def nameless(app: str) -> KubeObject:
        return pod("", metadata={"generateName": "run-", "labels": {"app": app}})

    one, other = born(nameless("a"), nameless("b")), born(nameless("b"), nameless("a"))

    assert one == other
    assert [len(found.metadata.name) > len("run-") for found in one] == [True, True]


def test_an_object_without_any_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"Pod, metadata.name: is missing"):
        born(pod(""))
