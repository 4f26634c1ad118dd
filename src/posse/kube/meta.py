"""What all Kubernetes objects have in common: metadata, owners, label selectors, instants.

Objects are immutable values that hold only what we read; everything else in a manifest is skipped while it is decoded.
As in Kubernetes, `null` means absent, so no field is ever None unless absence has a meaning of its own.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, ClassVar

from msgspec import Meta as Bounds
from msgspec import Struct, field

from posse.errors import InputError, Place

Int32 = Annotated[int, Bounds(ge=-(2**31), le=2**31 - 1)]
"""An integer as most API fields hold it."""
Int64 = Annotated[int, Bounds(ge=-(2**63), le=2**63 - 1)]
"""A larger one, such as a size in bytes."""

DEFAULT_NAMESPACE = "default"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = "0001-01-01T00:00:00Z"
"""How Go writes a time that was never set."""


@lru_cache(maxsize=4096)
def instant(text: str) -> int:
    """Read an RFC 3339 time as nanoseconds since the epoch; empty is 0, unknown. Raise ValueError for anything else."""
    if text in ("", _NEVER):
        return 0
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    elapsed = moment - _EPOCH
    nanoseconds = ((elapsed.days * 86400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds) * 1000
    if not 0 <= nanoseconds < 2**63:
        raise ValueError(f"{text!r} is too far away")
    return nanoseconds


def rfc3339(nanoseconds: int) -> str:
    """An instant as Kubernetes writes it, to the second; unknown is empty."""
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if nanoseconds else ""


class Part(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """A part of an object: the fields we read, under the names the API gives them."""


class OwnerReference(Part, frozen=True):
    """Who an object belongs to; `controller` marks the one that looks after it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(Part, frozen=True):
    """Who an object is. Times are texts, read where they are needed."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()


class KubeObject(Part, frozen=True, kw_only=True):
    """Any object. A kind that is read has a class of its own; the class knows its API version and kind."""

    API_VERSION: ClassVar[str] = ""
    KIND: ClassVar[str] = ""
    NAMESPACED: ClassVar[bool] = True

    metadata: Metadata = Metadata()

    @property
    def api_version(self) -> str:
        """The API version this object speaks."""
        return self.API_VERSION

    @property
    def kind_name(self) -> str:
        """The kind of this object."""
        return self.KIND

    def __str__(self) -> str:
        """The object as people name it: `Pod ns/name`."""
        meta = self.metadata
        name = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        return f"{self.kind_name} {name}"

    def time(self, text: str, field_path: str) -> int:
        """Read one of this object's times."""
        try:
            return instant(text)
        except ValueError:
            place = Place(object=str(self), field=field_path)
            accepted = "RFC 3339 after 1970, such as 2026-01-31T12:00:00Z"
            raise InputError(f"{text!r} is no time", place=place, accepted=accepted) from None

    @property
    def created(self) -> int:
        """When it was created, in nanoseconds since the epoch; 0 unknown."""
        return self.time(self.metadata.creation_timestamp, "metadata.creationTimestamp")

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that looks after it, if it has one."""
        return next((owner for owner in self.metadata.owner_references if owner.controller), None)


class LabelRequirement(Part, frozen=True):
    """One demand on one label, as manifests write it; `operator` is checked where it is read."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Part, frozen=True):
    """Which labels are meant. Empty means all; an absent selector means none."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()


def group_of(api_version: str) -> str:
    """The API group of an API version; the core group is empty."""
    return api_version.rpartition("/")[0]
