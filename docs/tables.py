"""The tables of the documentation that the code knows better: plugins and their arguments, flags, switches.

Each is made from what the code declares; `refresh.py` puts them into the pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from posse.scheduler.arguments import Argument
from posse.scheduler.conf_flags import FLAGS, spellings
from posse.scheduler.conf_parts import UPSTREAM_ACTIONS, UPSTREAM_PLUGINS
from posse.scheduler.plugin import EXTENSION_POINTS, Plugin
from posse.scheduler.registry import built_in
from posse.scheduler.switches import SWITCHES

VOTE = "votes, tier by tier"
FIRST = "the first refusal"
KEYS = "keys, compared in plugin order"
VICTIMS = "see below"

UPSTREAM_POINTS: Mapping[str, tuple[str, str]] = {
    "on_open": ("OnSessionOpen", "all are called"),
    "on_close": ("OnSessionClose", "all are called"),
    "on_allocate": ("EventHandler.AllocateFunc", "all are called"),
    "on_deallocate": ("EventHandler.DeallocateFunc", "all are called"),
    "task_allocated": ("EventHandler.AllocateFunc", "all are called"),
    "task_deallocated": ("EventHandler.DeallocateFunc", "all are called"),
    "queue_order": ("QueueOrderFn", KEYS),
    "gang_order": ("JobOrderFn", KEYS),
    "subgang_order": ("SubJobOrderFn", KEYS),
    "task_order": ("TaskOrderFn", KEYS),
    "gang_valid": ("JobValidFn", FIRST),
    "gang_ready": ("JobReadyFn", "all must agree"),
    "subgang_ready": ("SubJobReadyFn", "all must agree"),
    "gang_pipelined": ("JobPipelinedFn", VOTE),
    "subgang_pipelined": ("SubJobPipelinedFn", VOTE),
    "gang_starving": ("JobStarvingFn", "all in the first tier that has any"),
    "gang_enqueueable": ("JobEnqueueableFn", VOTE),
    "gang_enqueued": ("JobEnqueuedFn", "all are called"),
    "queue_overused": ("OverusedFn", FIRST),
    "queue_allocatable": ("AllocatableFn", FIRST),
    "preemptable": ("PreemptableFn", VICTIMS),
    "reclaimable": ("ReclaimableFn", VICTIMS),
    "evictable": ("UnifiedEvictableFn", VICTIMS),
    "node_filter": ("PredicateFn", FIRST),
    "node_score": ("NodeOrderFn", "the sum"),
    "filters": ("PrePredicateFn, PredicateFn", FIRST),
    "scores": ("NodeOrderFn, BatchNodeOrderFn", "the sum"),
    "clauses": ("-", "all are listed"),
}
"""What Volcano calls each extension point, and what the answers of several plugins make together."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def switches() -> str:
    """List the compatibility switches."""
    rows = ([f"`{each.name}`", each.posse, each.upstream, each.why] for each in SWITCHES)
    return table(["switch", "posse (default)", "upstream", "why"], rows)


def plugins() -> str:
    """Describe each plugin, with its arguments."""
    parts = []
    for name, spec in sorted(built_in().plugin_specs().items()):
        parts.append(f"### {name}\n\n{spec.summary}\n")
        if spec.arguments:
            parts.append(table(["argument", "default", "accepted", "meaning"], map(argument, spec.arguments)))
    return "\n".join(["", *parts])


def argument(declared: Argument) -> list[str]:
    """Describe one argument."""
    value = declared.default
    given = "-" if value in (None, "") else f"`{str(value).lower() if isinstance(value, bool) else value}`"
    return [f"`{declared.name}`", given, declared.accepted, declared.help]


def flags() -> str:
    """List the flags of plugins in both spellings."""
    written: dict[str, list[str]] = {}
    for key, flag in spellings("posse").items():
        written.setdefault(flag, []).append(f"`{key}`")
    rows = ([", ".join(sorted(written[each.flag])), "on" if each.default else "off"] for each in FLAGS)
    return table(["flag", "if not given"], rows)


def points() -> str:
    """List the extension points."""
    rows = []
    for name in EXTENSION_POINTS:
        says = (getattr(Plugin, name).__doc__ or "").partition("\n")[0]
        upstream, together = UPSTREAM_POINTS[name]
        rows.append([f"`{name}`", says, together, upstream])
    return table(["method", "its answer", "several plugins", "in Volcano"], rows)


def missing() -> str:
    """Name what Volcano has and Posse has not."""
    known = built_in()
    actions = ", ".join(f"`{name}`" for name in sorted(UPSTREAM_ACTIONS - known.actions.keys()))
    others = ", ".join(f"`{name}`" for name in sorted(UPSTREAM_PLUGINS - known.plugins.keys()))
    return f"\nActions: {actions}.\n\nPlugins: {others}.\n\n"


TABLES: Mapping[str, Callable[[], str]] = {
    "switches": switches,
    "plugins": plugins,
    "flags": flags,
    "points": points,
    "missing": missing,
}
