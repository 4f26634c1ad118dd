"""From bytes or decoded values to typed objects, and from a decoder's complaint to an error that people can act on.

As in Kubernetes `null` means absent. The decoder does not know that, so text with nulls where a value is expected takes
a second, slower way; nearly none does.
"""

import difflib
import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, inspect, structs

from posse.errors import InputError, Place
from posse.kube.field_paths import STEP, spelled_out
from posse.kube.meta import DEFAULT_NAMESPACE, KubeObject
from posse.kube.quantity import ACCEPTED

DecodedT = TypeVar("DecodedT")

_MISSING = re.compile(r"Object missing required field `(.+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.+)`")


def decode(body: Raw | dict[str, Any], kind: type[KubeObject], place: Place) -> KubeObject:
    """The typed object of a manifest."""
    return convert(body, kind, place)


def convert(body: Any, kind: type[DecodedT], place: Place) -> DecodedT:
    """A value, or raw JSON, as a typed struct. Raise InputError, naming object and field."""
    if not isinstance(body, Raw):
        return _convert(body, kind, place)
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as fault:
        try:
            plain = msgspec.json.decode(body)
        except msgspec.ValidationError:  # a number that no type can hold
            raise _explained(fault, _head_of(body), kind, place) from None
        return _convert(without_nulls(plain), kind, place)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise InputError(str(fault), place=place, accepted="JSON in UTF-8") from None


def _head_of(body: Raw) -> dict[str, Any]:
    """What says whose body it is, of one that cannot be decoded as a whole."""
    try:
        parts = msgspec.json.decode(body, type=dict[str, Raw])
        return {key: msgspec.json.decode(parts[key]) for key in ("kind", "metadata") if key in parts}
    except msgspec.DecodeError:
        return {}


def _convert(body: Any, kind: type[DecodedT], place: Place) -> DecodedT:
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as fault:
        raise _explained(fault, body, kind, place) from None


def without_nulls(value: Any) -> Any:
    """A value without the map entries that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _explained(fault: msgspec.ValidationError, body: Any, kind: type, place: Place) -> InputError:
    """The decoder's complaint with our place, and what would be accepted there."""
    message, _, path = str(fault).partition(" - at `")
    path = path.rstrip("`").removeprefix("key` in `")
    if missing := _MISSING.fullmatch(message):
        message, path = "is missing", f"{path}.{missing[1]}"
    accepted = _accepted_at(kind, path)
    if unknown := _UNKNOWN.fullmatch(message):
        known = _fields_at(kind, path)
        near = difflib.get_close_matches(unknown[1], known, n=1)
        message = f"unknown field {unknown[1]!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        accepted = ", ".join(known)
        path = f"{path}.{unknown[1]}"
    field = spelled_out(path, str(fault), body, kind).removeprefix("$").removeprefix(".")
    where = structs.replace(place, object=_name_of(body, kind), field=field)
    return InputError(message[:1].lower() + message[1:].replace("`", ""), place=where, accepted=accepted)


def _name_of(body: Any, kind: type) -> str:
    """`Pod ns/name`, as far as that can be told from an object that cannot be decoded."""
    if not isinstance(body, dict):
        return ""
    meta = body.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    space = meta.get("namespace")
    if issubclass(kind, KubeObject) and kind.NAMESPACED and meta.get("name"):
        space = space or DEFAULT_NAMESPACE
    name = "/".join(str(part) for part in (space, meta.get("name")) if part)
    return " ".join(part for part in (str(body.get("kind", "")), name) if part)


def _accepted_at(kind: type, path: str) -> str:
    """What the type of a struct accepts at a path such as `$.spec.tolerations[0].operator`."""
    return _described(_type_at(kind, path))


def _fields_at(kind: type, path: str) -> list[str]:
    """The fields of the struct that stands at a path."""
    here = _type_at(kind, path)
    return [field.encode_name for field in here.fields] if isinstance(here, inspect.StructType) else []


def _type_at(kind: type, path: str) -> inspect.Type | None:
    here: inspect.Type | None = inspect.type_info(kind)
    for name, _ in STEP.findall(path):
        here = _step(here, name)
    return here


def _step(here: inspect.Type | None, name: str) -> inspect.Type | None:
    """The type one step further in: a field by name, or an element."""
    options = here.types if isinstance(here, inspect.UnionType) else (here,)
    for option in options:
        if name and isinstance(option, inspect.StructType):
            return next((field.type for field in option.fields if field.encode_name == name), None)
        if isinstance(option, inspect.DictType):
            return option.value_type
        if not name and isinstance(option, inspect.VarTupleType | inspect.ListType):
            return option.item_type
    return None


_QUANTITY = {inspect.StrType, inspect.IntType, inspect.FloatType}
_WORDS: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.BoolType: "true or false",
    inspect.FloatType: "a number",
    inspect.DictType: "a map",
    inspect.VarTupleType: "a list",
    inspect.ListType: "a list",
    inspect.StructType: "a map of fields",
}


def _described(kind: inspect.Type | None) -> str:
    """A type in words."""
    match kind:
        case inspect.UnionType():
            if len(kind.types) == len(_QUANTITY) and {type(option) for option in kind.types} == _QUANTITY:
                return ACCEPTED
            words = [_described(option) for option in kind.types if not isinstance(option, inspect.NoneType)]
            return " or ".join(dict.fromkeys(word for word in words if word))
        case inspect.LiteralType():
            return ", ".join(str(value) for value in kind.values if value != "")
        case inspect.IntType():
            if kind.ge is None:
                return "a whole number"
            return f"a whole number from {kind.ge} {'up' if kind.le is None else f'to {kind.le}'}"
        case _:
            return _WORDS.get(type(kind), "") if kind else ""
