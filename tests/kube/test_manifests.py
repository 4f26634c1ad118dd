"""Files, folders and streams become manifests, lists taken apart, errors naming the place."""

from pathlib import Path

import msgspec
import pytest

from posse.errors import InputError, Place
from posse.kube import manifests
from posse.kube.objects import OtherObject, Pod

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME}\n"


def names(text: str) -> list[str]:
    return [found.name for found in manifests.parse(text.encode(), "f")]


def pod_text(name: str) -> str:
    return POD.replace("NAME", name)


def test_a_text_may_hold_many_documents_and_empty_ones() -> None:
    text = "---\n# nothing\n---\n" + pod_text("a") + "---\n" + pod_text("b")

    assert names(text) == ["a", "b"]


def test_lists_are_taken_apart_also_inside_of_lists() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [_json_pod("b")]}
    text = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": [_json_pod("a"), inner]}).decode()

    assert names(text) == ["a", "b"]


@pytest.mark.parametrize("encode", [msgspec.json.encode, msgspec.yaml.encode])
def test_items_of_a_typed_list_get_their_kind_from_the_list(encode: object) -> None:
    body = {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [{"metadata": {"name": "a"}}]}

    found = list(manifests.parse(encode(body)))  # type: ignore[operator]

    assert [(one.api_version, one.kind, one.name) for one in found] == [("v1", "Pod", "a")]
    assert isinstance(found[0].decode(), Pod)


def test_a_list_without_items_is_empty() -> None:
    assert names("apiVersion: v1\nkind: List\nitems:\n") == []


def test_a_kind_that_ends_in_list_and_has_no_items_is_an_object() -> None:
    assert names("apiVersion: x/v1\nkind: AllowList\nmetadata: {name: a}\n") == ["a"]


def test_json_may_be_one_value_a_list_or_one_value_per_line() -> None:
    one, two = (msgspec.json.encode(_json_pod(name)).decode() for name in "ab")

    assert (names(one), names(f"[{one},{two}]"), names(f"{one}\n{two}\n")) == (["a"], ["a", "b"], ["a", "b"])


def test_yaml_that_begins_like_json_is_yaml() -> None:
    assert names("{apiVersion: v1, kind: Pod, metadata: {name: a}}") == ["a"]


def test_bad_json_is_reported_with_its_line() -> None:
    with pytest.raises(InputError, match=r"malformed.*line 2"):
        names('{"apiVersion": "v1",\n "kind": }')


def test_a_manifest_without_kind_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"f, line 5, document 2, object b, kind: is missing"):
        names(pod_text("a") + "---\napiVersion: v1\nmetadata: {name: b}\n")


@pytest.mark.parametrize("text", ["hello", "- 5", "&x [*x]", "[" * 3000 + "]" * 3000, "{}"])
def test_no_text_however_odd_is_a_traceback(text: str) -> None:
    with pytest.raises(InputError):
        names(text)


def test_an_unknown_kind_is_kept_with_its_name() -> None:
    (found,) = manifests.parse(b"apiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\n")
    decoded = found.decode()

    assert isinstance(decoded, OtherObject)
    assert (decoded.api_version, decoded.kind_name, str(decoded)) == ("x.io/v1", "Widget", "Widget w")


def test_folders_are_read_deep_and_sorted(tmp_path: Path) -> None:
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "b.yml").write_text(pod_text("second"))
    (tmp_path / "a.yaml").write_text(pod_text("first"))
    (tmp_path / "notes.txt").write_text("not: read")
    told: list[tuple[str, int]] = []

    found = manifests.read([str(tmp_path)], lambda file, count: told.append((Path(file).name, count)))

    assert [one.name for one in found] == ["first", "second"]
    assert told == [("a.yaml", 1), ("b.yml", 1)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("steps.yaml", "- after_cycle: 2\n  delete: [{kind: Node, name: n}]\n"),
        ("values.yml", "replicas: 3\n"),
        ("notes.yaml", "hello"),
        ("package.json", '{"name": "x"}'),
        ("numbers.json", "[1, 2]"),
    ],
)
def test_what_is_no_manifest_is_skipped_in_a_folder_and_told(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(pod_text("a"))
    other = tmp_path / name
    other.write_text(text)
    skipped: list[str] = []

    found = manifests.read([str(tmp_path)], skipped=skipped.append)

    assert ([one.name for one in found], skipped) == (["a"], [str(other)])
    with pytest.raises(InputError):
        manifests.read([str(other)], skipped=skipped.append)


@pytest.mark.parametrize(
    "text", ["kind: Pod\nmetadata: {name: b}\n", pod_text("b") + "---\nreplicas: 3\n", "a: [1\nb: }"]
)
def test_a_slip_in_a_manifest_is_a_fault_in_a_folder_too(text: str, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(text)

    with pytest.raises(InputError, match=r"pod\.yaml"):
        manifests.read([str(tmp_path)], skipped=lambda file: None)


def test_a_folder_without_any_manifest_file_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no manifests.*\.json, \.yaml, \.yml"):
        manifests.read([str(tmp_path)])


def test_a_dash_is_standard_input() -> None:
    (found,) = manifests.read(["-"], stdin=lambda: pod_text("a"))

    assert (found.name, found.place.file) == ("a", "stdin")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        manifests.read(["nowhere.yaml"])


def test_errors_name_file_document_object_and_field() -> None:
    text = pod_text("a") + "---\n" + pod_text("b") + "spec: {priority: high}\n"
    _, bad = manifests.parse(text.encode(), "f.yaml")

    with pytest.raises(InputError) as caught:
        bad.decode()

    assert caught.value.place == Place(file="f.yaml", document=2, line=5, object="Pod default/b", field="spec.priority")


def test_what_goes_wrong_later_can_still_name_the_file() -> None:
    place = Place(file="f.yaml", document=2, line=5)

    with pytest.raises(InputError) as caught, manifests.found_at(place):
        raise InputError("is odd", place=Place(object="Pod b", field="spec"), accepted="something even")

    assert str(caught.value) == "f.yaml, line 5, document 2, Pod b, spec: is odd (accepted: something even)"


def test_two_manifests_of_one_object_that_differ_are_refused() -> None:
    changed = pod_text("a") + "spec: {nodeName: n}\n"
    found = [*manifests.parse(pod_text("a").encode(), "one"), *manifests.parse(changed.encode(), "two")]

    with pytest.raises(InputError) as caught:
        manifests.distinct(found)

    assert str(caught.value).startswith("two, line 1, document 1, Pod a: is given twice, and not alike (first in one")


def test_the_same_manifest_twice_counts_once() -> None:
    found = list(manifests.parse((pod_text("a") + "---\n" + pod_text("a")).encode()))

    assert manifests.distinct(found) == [found[0]]


def test_objects_of_one_name_in_two_namespaces_or_groups_are_two() -> None:
    text = (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x}}\n---\n"
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a}}\n---\n"
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}}\n"
    )
    text = text.replace("{apiVersion", "\n{apiVersion", 1)

    assert len(manifests.distinct(manifests.parse(b"# objects\n" + text.encode()))) == 4


def test_no_namespace_and_namespace_default_are_one() -> None:
    text = b"# objects\n{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"
    text += b"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}}\n"

    assert len(manifests.distinct(manifests.parse(text))) == 1


def _json_pod(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
