"""Manifests: text in, objects out, one by one and only when asked.

A cluster dump of 100,000 pods is one JSON list. It is split into its items without looking into them; of each only
kind, name and namespace are peeked at; the rest is decoded when somebody asks for the object (`Manifest.decode`),
straight from the bytes. YAML is for people, so it is read whole (see `yaml_text`).

Whatever is wrong is said with the file, the document and the line it starts at. A folder may hold other files besides
(configurations, steps, values): those are skipped, and whoever reads is told. A file that is named is meant.
"""

import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct, field, structs

from posse.errors import InputError, Place
from posse.kube import decoding
from posse.kube.meta import KubeObject, group_of
from posse.kube.objects import class_of
from posse.kube.yaml_text import documents

SUFFIXES = (".json", ".yaml", ".yml")
STDIN = "-"
OBJECT = "a Kubernetes object, with apiVersion, kind and metadata"

Progress = Callable[[str, int], None]
"""Is told the file and how many manifests of it were read."""


Skipped = Callable[[str], None]
"""Is told of a file in a folder that holds no manifests."""


class NoManifestError(InputError):
    """A document that is no Kubernetes object at all, rather than one with a slip."""


_VALUES = msgspec.json.Decoder(list[Raw])
_LINES = msgspec.json.Decoder(Raw)


class _Name(Struct, gc=False):
    name: str | None = None
    namespace: str | None = None


class _Head(Struct, gc=False):
    """What is peeked at. `items` stays bytes (or whatever was decoded), untouched."""

    apiVersion: str | None = None  # noqa: N815 - the name in the text
    kind: str | None = None
    metadata: _Name | None = None
    items: list[Raw] | None = None


class Manifest(Struct, frozen=True, gc=False):
    """One object of the input: what it is called, and the rest still undecoded."""

    api_version: str
    kind: str
    namespace: str
    name: str
    body: Raw | dict[str, Any]
    place: Place = field(default_factory=Place)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes two manifests the same object. An object without a name yet is nobody else's twin."""
        return group_of(self.api_version), self.kind, self.namespace or "default", self.name

    def decode(self) -> KubeObject:
        """The typed object; errors name the file, the object and the field."""
        return decoding.decode(self.body, class_of(self.api_version, self.kind), self.place)


def read(
    paths: Iterable[str],
    progress: Progress | None = None,
    stdin: Callable[[], str] = sys.stdin.read,
    skipped: Skipped | None = None,
) -> list[Manifest]:
    """Read files, folders (all below, sorted) and `-`, in the order given."""
    manifests: list[Manifest] = []
    for path in paths:
        for file, found in _found_at(path, stdin, skipped):
            manifests += found
            if progress:
                progress(file, len(found))
    return manifests


def _found_at(path: str, stdin: Callable[[], str], skipped: Skipped | None) -> Iterator[tuple[str, list[Manifest]]]:
    """The files that a path means, and the manifests of each."""
    if path == STDIN:
        yield path, list(parse(stdin().encode(), "stdin"))
    elif Path(path).is_dir():
        for file in _files_below(Path(path)):
            yield file, _found_beside_others(file, skipped)
    elif Path(path).exists():
        yield path, list(parse(_bytes_of(Path(path)), path))
    else:
        raise InputError("no such file or folder", place=Place(file=path), accepted="a file, a folder or -")


def _files_below(folder: Path) -> list[str]:
    files = [str(file) for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix in SUFFIXES]
    if not files:
        raise InputError(
            "holds no manifests", place=Place(file=str(folder)), accepted=f"files in {', '.join(SUFFIXES)}"
        )
    return files


def _found_beside_others(file: str, skipped: Skipped | None) -> list[Manifest]:
    """The manifests of a file in a folder: none if it begins with something else."""
    found: list[Manifest] = []
    try:
        for manifest in parse(_bytes_of(Path(file)), file):
            found.append(manifest)  # noqa: PERF402 - what was found before a fault counts
    except NoManifestError:
        if found:
            raise
        if skipped:
            skipped(file)
    return found


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        reason = fault.strerror or "unreadable"
        raise InputError(f"cannot be read: {reason}", place=Place(file=str(path))) from None


def parse(text: bytes, file: str = "") -> Iterator[Manifest]:
    """The manifests of one text, JSON or YAML, of one document or many, lists taken apart."""
    text = text.removeprefix(BOM_UTF8)
    try:
        yield from _parse_json(text, file) if text.lstrip()[:1] in (b"{", b"[") else _parse_yaml(text, file)
    except RecursionError:
        raise InputError("is nested too deeply", place=Place(file=file)) from None


def _parse_yaml(text: bytes, file: str) -> Iterator[Manifest]:
    for document, line, body in documents(text, file):
        yield from from_value(body, Place(file=file, document=document, line=line))


def _parse_json(text: bytes, file: str) -> Iterator[Manifest]:
    """JSON, or YAML that only begins like it."""
    place = Place(file=file)
    try:
        parts = _VALUES.decode(text) if text.lstrip().startswith(b"[") else _json_values(text)
    except msgspec.DecodeError as fault:
        try:
            yield from list(_parse_yaml(text, file))
        except InputError:
            raise InputError(_json_fault(fault, text), place=place, accepted="JSON or YAML") from None
        return
    for number, part in enumerate(parts, 1):
        yield from _from_json(part, Place(file=file, document=number) if len(parts) > 1 else place)


def _json_values(text: bytes) -> list[Raw]:
    """One JSON value, or one per line."""
    try:
        return [_LINES.decode(text)]
    except msgspec.DecodeError as fault:
        try:
            return _LINES.decode_lines(text)
        except msgspec.DecodeError:
            raise fault from None


def _json_fault(fault: msgspec.DecodeError, text: bytes) -> str:
    """The decoder's words, with the line in place of the byte."""
    words, _, rest = str(fault).partition(" (byte ")
    position = rest.rstrip(")")
    if not position.isdecimal():
        return words
    line = text.count(b"\n", 0, int(position)) + 1
    return f"{words} (line {line})"


def from_values(values: Iterable[Any], place: Place) -> Iterator[Manifest]:
    """The manifests of decoded values, or of raw JSON, such as the objects of a batch line."""
    for value in values:
        yield from _from_json(value, place) if isinstance(value, Raw) else from_value(value, place)


def from_value(body: Any, place: Place) -> Iterator[Manifest]:
    """The manifests of one decoded document: none if it is empty, several if it is a list."""
    if body is None:
        return
    if isinstance(body, list):
        yield from from_values(body, place)
        return
    if not isinstance(body, dict):
        raise NoManifestError("is no object", place=place, accepted=OBJECT)
    body = decoding.without_nulls(body)
    items = body.pop("items", []) if _is_list(body) else None
    head = decoding.convert(body, _Head, place)
    if items is None:
        yield _manifest(head, body, place)
        return
    if not isinstance(items, list):
        raise InputError("is no list", place=_inside(place, head, "items"), accepted="a list of objects")
    for item in items:
        yield from from_value(_with_kind_of_list(item, head), place)


def _from_json(raw: Raw, place: Place) -> Iterator[Manifest]:
    head = _head_of(raw, place)
    kind = head.kind or ""
    if kind != "List" and (head.items is None or not kind.endswith("List")):
        yield _manifest(head, raw, place)
        return
    for item in head.items or ():
        inner = decoding.convert(item, _Head, place)
        if inner.kind:
            yield from _from_json(item, place)
        else:
            _inherit(inner, head)
            yield _manifest(inner, item, place)


def _head_of(raw: Raw, place: Place) -> _Head:
    try:
        return decoding.convert(raw, _Head, place)
    except InputError:
        if bytes(raw).lstrip()[:1] != b"{":
            raise NoManifestError("is no object", place=place, accepted=OBJECT) from None
        raise


def _is_list(body: dict[str, Any]) -> bool:
    kind = str(body.get("kind", ""))
    return kind == "List" or (kind.endswith("List") and "items" in body)


def _inherit(item: _Head, outer: _Head) -> None:
    """An API server leaves kind and version of a list's items to the list."""
    item.kind = (outer.kind or "").removesuffix("List")
    item.apiVersion = item.apiVersion or outer.apiVersion


def _with_kind_of_list(item: Any, outer: _Head) -> Any:
    if isinstance(item, dict) and not item.get("kind"):
        inner = _Head(apiVersion=item.get("apiVersion"))
        _inherit(inner, outer)
        return {**item, "apiVersion": inner.apiVersion, "kind": inner.kind}
    return item


def _manifest(head: _Head, body: Raw | dict[str, Any], place: Place) -> Manifest:
    name = head.metadata or _Name()
    fault = InputError if head.kind or head.apiVersion else NoManifestError
    for missing, value in (("kind", head.kind), ("apiVersion", head.apiVersion)):
        if not value:
            raise fault("is missing", place=_inside(place, head, missing), accepted=OBJECT)
    return Manifest(head.apiVersion or "", head.kind or "", name.namespace or "", name.name or "", body, place)


def _inside(place: Place, head: _Head, at: str) -> Place:
    name = head.metadata.name if head.metadata else ""
    named = f"{head.kind or 'object'} {name}" if name else head.kind or ""
    return msgspec.structs.replace(place, object=named, field=at)


@contextmanager
def found_at(place: Place) -> Iterator[None]:
    """Let errors of what happens inside say where in the input the object stood."""
    try:
        yield
    except InputError as fault:
        where = msgspec.structs.replace(fault.place, file=place.file, document=place.document, line=place.line)
        raise InputError(fault.message, place=where, accepted=fault.accepted) from None


def distinct(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Keep each object once. One that is given twice must be given alike: no order of files says which one counts."""
    kept: dict[tuple[str, ...], Manifest] = {}
    for number, manifest in enumerate(manifests):
        key = manifest.identity if manifest.name else (*manifest.identity, str(number))
        earlier = kept.setdefault(key, manifest)
        if earlier is not manifest and earlier.body != manifest.body and _says(earlier) != _says(manifest):
            thing = manifest.decode()
            where = f" (first in {earlier.place})" if str(earlier.place) else ""
            place = structs.replace(manifest.place, object=str(thing))
            raise InputError(f"is given twice, and not alike{where}", place=place, accepted="each object once")
    return list(kept.values())


def _says(manifest: Manifest) -> KubeObject:
    """What a manifest says, wherever it says it."""
    thing = manifest.decode()
    metadata = structs.replace(thing.metadata, namespace=manifest.identity[2])
    return structs.replace(thing, metadata=metadata)
