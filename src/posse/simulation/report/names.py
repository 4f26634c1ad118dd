"""Names for people: without what a controller adds to the name of its job, and without a namespace that says nothing.

Volcano calls the PodGroup of Job `train` `train-<uid>`, and KAI's grouping does likewise. Programs get these names;
people know their job by its own. And where everything is in the namespace `default`, nobody writes `default/`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WITH_UID = re.compile(rf"([\w./-]+?)-{_UID}")
_DEFAULT = "default/"


def short_names(names: Iterable[str]) -> dict[str, str]:
    """What each name that can be shortened is shortened to, so that no two are called the same."""
    every = list(names)
    bare = all(name.startswith(_DEFAULT) for name in every)
    wanted = {name: _shortened(name, bare=bare) for name in every}
    askers = Counter(wanted.values())
    return {name: short for name, short in wanted.items() if short != name and askers[short] == 1}


def _shortened(name: str, *, bare: bool) -> str:
    match = _WITH_UID.fullmatch(name)
    without_uid = match[1] if match else name
    return without_uid.removeprefix(_DEFAULT) if bare else without_uid


def readable(record: Any, names: Mapping[str, str]) -> Any:
    """A record, or any part of it, with names shortened wherever they stand."""
    if not names:
        return record
    match record:
        case str():
            return names.get(record) or _WITH_UID.sub(lambda found: names.get(found[0], found[0]), record)
        case dict():
            return {readable(key, names): readable(value, names) for key, value in record.items()}
        case list():
            return [readable(value, names) for value in record]
        case _:
            return record
