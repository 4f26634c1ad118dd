"""What goes wrong by someone's input, said so that they can mend it.

One exception for bad input of every kind (a manifest, a configuration, a flag): it names the place (file, document or
line, object, field), what is wrong, and what is accepted. It is raised where the fault is found and caught once, at the
edge (the command line, a batch line, a reload), so that nothing is ever half-applied and no traceback reaches a user.
"""

from msgspec import Struct


class Place(Struct, frozen=True, kw_only=True):
    """Where in the input something stands. Empty and zero mean unknown."""

    file: str = ""
    document: int = 0
    line: int = 0
    object: str = ""
    field: str = ""

    def __str__(self) -> str:
        """The place from the outside in, as far as it is known."""
        parts = [
            self.file,
            f"line {self.line}" if self.line else "",
            f"document {self.document}" if self.document else "",
            self.object,
            self.field,
        ]
        return ", ".join(part for part in parts if part)


class InputError(Exception):
    """Input that cannot be taken. `accepted` says what would be."""

    def __init__(self, message: str, *, place: Place | None = None, accepted: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place or Place()
        self.accepted = accepted

    def __str__(self) -> str:
        """One line: where, what, and what is accepted."""
        where = str(self.place)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} (accepted: {self.accepted})" if self.accepted else text
