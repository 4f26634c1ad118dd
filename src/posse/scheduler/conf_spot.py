"""A spot in a configuration file: a node, and the way that leads to it.

Readers walk from spot to spot, so whatever they find wrong has its file, line and field at hand. A spot may be empty
(nothing stands at a key): it reads as an empty table, an empty list, an empty text, as a missing value and a null do
in Volcano's files.
"""

from collections.abc import Iterable

from msgspec import Struct

from posse.errors import InputError, Place
from posse.scheduler.arguments import Given, Report, nearest
from posse.scheduler.conf_yaml import Entry, Items, Node, Scalar, Table, parse


class Spot(Struct, frozen=True):
    """What stands at a place. `key` is the last step of the way to it."""

    node: Node | None
    place: Place
    key: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing, or a null, stands here."""
        return self.node is None or (isinstance(self.node, Scalar) and self.node.value is None)

    def text(self) -> str:
        """The word that stands here, as written: a name may look like a number."""
        if self.node is None:
            return ""
        if not isinstance(self.node, Scalar):
            raise self.error(f"{self.node} stands where a text belongs", "a text")
        return self.node.text

    def items(self) -> list["Spot"]:
        """The items of the list that stands here."""
        if self.is_empty:
            return []
        if not isinstance(self.node, Items):
            raise self.error(f"{self.node} stands where a list belongs", "a list, each item behind a dash")
        return [
            Spot(item, Place(file=self.place.file, line=item.line, field=f"{self.place.field}[{number}]"))
            for number, item in enumerate(self.node.items)
        ]

    def entries(self) -> list["Spot"]:
        """What stands at the keys of the table here; of a key that stands twice, the later."""
        table = self._table()
        return [self._child(entry) for entry in table.entries] if table else []

    def repeated(self) -> list["Spot"]:
        """The entries whose key stood here before."""
        table = self._table()
        return [self._child(entry) for entry in table.repeated] if table else []

    def get(self, key: str) -> "Spot":
        """The spot at a key of the table here, empty if the key is missing."""
        missing = Spot(None, Place(file=self.place.file, line=self.place.line, field=self._way(key)), key)
        return next((spot for spot in self.entries() if spot.key == key), missing)

    def given(self) -> list[Given]:
        """The entries as arguments."""
        return [Given(spot.key, spot.node.plain(), spot.place) for spot in self.entries() if spot.node is not None]

    def error(self, message: str, accepted: str = "") -> InputError:
        """What is wrong here."""
        return InputError(message, place=self.place, accepted=accepted)

    def _table(self) -> Table | None:
        if self.is_empty:
            return None
        if not isinstance(self.node, Table):
            raise self.error(f"{self.node} stands where a mapping belongs", "a mapping, `key: value` on each line")
        return self.node

    def _child(self, entry: Entry) -> "Spot":
        return Spot(entry.value, Place(file=self.place.file, line=entry.line, field=self._way(entry.key)), entry.key)

    def _way(self, key: str) -> str:
        return f"{self.place.field}.{key}" if self.place.field else key


class Page(Struct, frozen=True):
    """A file as YAML: the spot at its top, and the line in which a second document begins, 0 if none does."""

    top: Spot
    second: int = 0


def open_page(text: str, file: str = "") -> Page:
    """Read a text as YAML."""
    document = parse(text, file=file)
    line = document.root.line if document.root else 1
    return Page(Spot(document.root, Place(file=file, line=line)), document.second)


def check_known(spot: Spot, accepted: Iterable[str], report: Report, *, besides: Iterable[str] = ()) -> None:
    """Report the keys of a table that mean nothing there. Keys `besides` those accepted pass without being advised."""
    recommended = tuple(accepted)
    names = {*recommended, *besides}
    for entry in spot.entries():
        if entry.key not in names:
            report(entry.error(f"unknown key {entry.key!r}{nearest(entry.key, names)}", ", ".join(recommended)))


def check_once(spot: Spot, report: Report) -> None:
    """Report the keys that stand in a table twice."""
    for entry in spot.repeated():
        report(entry.error(f"the key {entry.key!r} stands here a second time", "each key once"))
