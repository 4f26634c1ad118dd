"""Files with a slip in them: where it is, what it is, and what would have been right."""

import pytest
from msgspec import Struct

from posse.errors import InputError
from posse.scheduler.configuration import load
from tests.scheduler.conf_catalog import ACTIONS, PLUGINS

HEAD = "actions: allocate\n"


class Slip(Struct, frozen=True):
    """A file, and what must be said of it."""

    text: str
    line: int
    field: str
    message: str
    accepted: str = ""


def plugin(body: str) -> str:
    """A file with one plugin, whose lines begin in line 4."""
    return HEAD + "tiers:\n- plugins:\n" + "\n".join("  " + line for line in body.splitlines())


FIRST = "tiers[0].plugins[0]"

SLIPS = {
    "an empty file": Slip("", 1, "actions", "no action is named", 'actions: "enqueue, allocate, backfill"'),
    "only a comment": Slip("# nothing\n", 1, "actions", "no action is named"),
    "no actions": Slip("tiers: []\n", 1, "actions", "no action is named"),
    "actions without a value": Slip("actions:\ntiers: []\n", 1, "actions", "no action is named"),
    "an unknown action": Slip(
        "\nactions: allocate, backfil\n", 2, "actions", "unknown action 'backfil'; did you mean 'backfill'?", "backfill"
    ),
    "an action in capitals": Slip("actions: Allocate", 1, "actions", "did you mean 'allocate'?"),
    "a comma at the end": Slip("actions: allocate,", 1, "actions", "a comma without", 'actions: "allocate"'),
    "a list of actions": Slip(
        "actions: [allocate, backfill]", 1, "actions", "one text, not a list", 'actions: "allocate, backfill"'
    ),
    "a mapping of actions": Slip("actions: {allocate: 1}", 1, "actions", "a mapping stands where a text belongs"),
    "an action that is yet to come": Slip(
        "actions: preempt", 1, "actions", "preempt is not built into Posse yet", "allocate"
    ),
    "an unknown key": Slip(HEAD + "tier: []\n", 2, "tier", "unknown key 'tier'; did you mean 'tiers'?", "tiers"),
    "a key twice": Slip(HEAD + HEAD, 2, "actions", "the key 'actions' stands here a second time", "each key once"),
    "a second document": Slip(
        HEAD + "---\nactions: backfill\n", 2, "", "a second YAML document begins", "one document"
    ),
    "a text for a file": Slip("allocate", 1, "", "the text 'allocate' stands where a mapping belongs"),
    "a list for a file": Slip("- actions", 1, "", "a list stands where a mapping belongs"),
    "tiers as a mapping": Slip(HEAD + "tiers:\n  plugins: []\n", 2, "tiers", "a mapping stands where a list belongs"),
    "a tier with another key": Slip(HEAD + "tiers:\n- plugin: []\n", 3, "tiers[0].plugin", "did you mean 'plugins'?"),
    "an unknown plugin": Slip(
        plugin("- name: pridicates"),
        4,
        f"{FIRST}.name",
        "unknown plugin 'pridicates'; did you mean 'predicates'?",
        "predicates",
    ),
    "a plugin in capitals": Slip(plugin("- name: Gang"), 4, f"{FIRST}.name", "did you mean 'gang'?"),
    "a plugin without a name": Slip(plugin("- enableJobOrder: true"), 4, f"{FIRST}.name", "a plugin without a name"),
    "a plugin as a word": Slip(plugin("- gang"), 4, FIRST, "the text 'gang' stands where a mapping belongs"),
    "a plugin that is yet to come": Slip(plugin("- name: tdm"), 4, FIRST, "tdm is not built into Posse yet", "gang"),
    "an unknown flag": Slip(
        plugin("- name: gang\n  enableJobOder: false"), 5, f"{FIRST}.enableJobOder", "did you mean 'enableJobOrder'?"
    ),
    "a flag in quotes": Slip(
        plugin("- name: gang\n  enableJobOrder: 'false'"),
        5,
        f"{FIRST}.enableJobOrder",
        "the text 'false' is no value of a flag",
        "true or false, not quoted",
    ),
    "a flag as a number": Slip(
        plugin("- name: gang\n  enableJobOrder: 0"), 5, f"{FIRST}.enableJobOrder", "the number 0 is no value of a flag"
    ),
    "a flag in both spellings": Slip(
        plugin("- name: gang\n  enableJobOrder: true\n  enabledJobOrder: false"),
        6,
        f"{FIRST}.enabledJobOrder",
        "also given as enableJobOrder",
        "one of its spellings",
    ),
    "hierarchy beside proportion": Slip(
        plugin("- name: drf\n  enabledHierarchy: true\n- name: proportion"), 3, "tiers[0]", "drf with enableHierarchy"
    ),
    "arguments as a list": Slip(
        plugin("- name: gang\n  arguments: [1]"), 5, f"{FIRST}.arguments", "a list stands where a mapping belongs"
    ),
    "an unknown argument": Slip(
        plugin("- name: nodeorder\n  arguments:\n    leastrequest.weight: 2"),
        6,
        f"{FIRST}.arguments.leastrequest.weight",
        "plugin nodeorder has no argument 'leastrequest.weight'; did you mean 'leastrequested.weight'?",
        "leastrequested.weight, mostrequested.weight",
    ),
    "an argument of a plugin that takes none": Slip(
        plugin("- name: priority\n  arguments: {weight: 2}"),
        5,
        f"{FIRST}.arguments.weight",
        "plugin priority has no argument 'weight'",
        "no arguments",
    ),
    "a number in quotes": Slip(
        plugin("- name: nodeorder\n  arguments:\n    leastrequested.weight: '0'"),
        6,
        f"{FIRST}.arguments.leastrequested.weight",
        "the text '0' does not fit",
        "a whole number, not quoted, at least 0",
    ),
    "a broken number for a whole one": Slip(
        plugin("- name: nodeorder\n  arguments: {leastrequested.weight: 2.0}"),
        5,
        f"{FIRST}.arguments.leastrequested.weight",
        "the number 2.0 does not fit",
    ),
    "a number out of range": Slip(
        plugin("- name: nodeorder\n  arguments: {leastrequested.weight: -1}"),
        5,
        f"{FIRST}.arguments.leastrequested.weight",
        "the number -1 is out of range",
        "at least 0",
    ),
    "an argument without a value": Slip(
        plugin("- name: overcommit\n  arguments:\n    overcommit-factor:"),
        6,
        f"{FIRST}.arguments.overcommit-factor",
        "no value does not fit",
        "a number",
    ),
    "a word that is no choice": Slip(
        plugin("- name: gang\n  arguments: {gang.order: first}"),
        5,
        f"{FIRST}.arguments.gang.order",
        "the text 'first' does not fit",
        "ready-first | unready-first",
    ),
    "an argument twice": Slip(
        plugin("- name: nodeorder\n  arguments:\n    leastrequested.weight: 1\n    leastrequested.weight: 2"),
        7,
        f"{FIRST}.arguments.leastrequested.weight",
        "a second time",
    ),
    "a plugin twice with different arguments": Slip(
        plugin("- name: nodeorder\n- name: nodeorder\n  arguments: {leastrequested.weight: 2}"),
        4,
        FIRST,
        "plugin nodeorder stands in the file again, with other arguments",
        "the same arguments in each place",
    ),
    "an unknown entry": Slip(
        HEAD + "configurations:\n- name: alocate\n",
        3,
        "configurations[0].name",
        "did you mean 'allocate'?",
        "compatibility",
    ),
    "an entry without a name": Slip(
        HEAD + "configurations:\n- arguments: {}\n", 3, "configurations[0].name", "unknown entry ''"
    ),
    "an entry twice": Slip(
        HEAD + "configurations:\n- name: gates\n- name: gates\n", 4, "configurations[1].name", "a second entry 'gates'"
    ),
    "an unknown argument of an action": Slip(
        HEAD + "configurations:\n- name: allocate\n  arguments:\n    cache: true\n",
        5,
        "configurations[0].arguments.cache",
        "action allocate has no argument 'cache'",
        "predicateErrorCacheEnable",
    ),
    "a switch that does not exist": Slip(
        HEAD + "configurations:\n- name: compatibility\n  arguments: {gang-oder: upstream}\n",
        4,
        "configurations[0].arguments.gang-oder",
        "did you mean 'gang-order'?",
    ),
    "a side that does not exist": Slip(
        HEAD + "configurations:\n- name: compatibility\n  arguments: {mode: volcano}\n",
        4,
        "configurations[0].arguments.mode",
        "the text 'volcano' does not fit",
        "posse | upstream",
    ),
    "two compatibilities": Slip(
        HEAD + "configurations:\n- name: compatibility\n- name: compatibility\n",
        4,
        "configurations[1]",
        "a second entry",
    ),
    "metrics in depth": Slip(
        HEAD + "metrics:\n  type: {a: b}\n", 3, "metrics.type", "a mapping stands where a text belongs"
    ),
    "a period of nothing": Slip(
        HEAD + "schedule-period: 0s\n", 2, "schedule-period", "the text '0s' is no period", "such as 500ms or 1s"
    ),
    "a period without end": Slip(
        HEAD + "schedule-period: 1000000000h\n", 2, "schedule-period", "too long a period", "at most 8760h"
    ),
    "a period without a unit": Slip(HEAD + "schedule-period: 5\n", 2, "schedule-period", "the number 5 is no period"),
    "a tab": Slip("actions: allocate\ntiers:\n\t- plugins: []\n", 3, "", "not YAML", "no tabs"),
    "a bracket that stays open": Slip("actions: allocate\ntiers: [\n", 3, "", "not YAML"),
    "a character that is none": Slip("actions: allocate\n\ntiers: \x00\n", 3, "", "character"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_named_with_its_place_and_its_remedy(name: str) -> None:
    slip = SLIPS[name]
    with pytest.raises(InputError) as caught:
        load(slip.text, registry=PLUGINS, actions=ACTIONS, file="scheduler.conf")
    error = caught.value
    assert (error.place.file, error.place.line, error.place.field) == ("scheduler.conf", slip.line, slip.field)
    assert slip.message in error.message
    assert slip.accepted in error.accepted


def test_the_whole_message_reads_in_one_line() -> None:
    with pytest.raises(InputError) as caught:
        load(plugin("- name: drff"), registry=PLUGINS, actions=ACTIONS, file="scheduler.conf")
    assert str(caught.value) == (
        "scheduler.conf, line 4, tiers[0].plugins[0].name: unknown plugin 'drff'; did you mean 'drf'? "
        "(accepted: conformance, drf, gang, nodeorder, overcommit, predicates, priority, proportion)"
    )


def nested(value: str) -> str:
    return f"{HEAD}metrics: {value}"


@pytest.mark.parametrize("depth", [60, 5000])
def test_a_file_nested_beyond_reason_is_refused_rather_than_followed(depth: int) -> None:
    with pytest.raises(InputError, match="levels deep"):
        load(nested("[" * depth), registry=PLUGINS, actions=ACTIONS)


def test_aliases_may_not_blow_a_small_file_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    with pytest.raises(InputError, match="aliases counted"):
        load("\n".join(lines), registry=PLUGINS, actions=ACTIONS)


def test_an_alias_inside_its_own_anchor_is_refused() -> None:
    with pytest.raises(InputError, match="no finished anchor"):
        load("tiers: &t [*t]", registry=PLUGINS, actions=ACTIONS)
