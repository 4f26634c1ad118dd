"""What `conf-unknown: upstream` makes of odd files: it reads them as Volcano does."""

import pytest

from posse.errors import InputError
from posse.scheduler.conf_flags import DEFAULT_FLAGS
from posse.scheduler.configuration import DEFAULT_CONF, Configuration, load
from tests.scheduler.conf_catalog import ACTIONS, PLUGINS, plugins_of


def upstream(text: str) -> Configuration:
    return load(text, registry=PLUGINS, actions=ACTIONS, mode="upstream")


def tier(body: str) -> str:
    return "actions: allocate\ntiers:\n- plugins:\n" + "\n".join("  " + line for line in body.splitlines())


REJECTED = {
    "an unknown action": "actions: allocate, gangPreempt\n",
    "a comma at the end": "actions: allocate,\n",
    "no actions": "tiers: []\n",
    "an empty text": "actions: ''\n",
    "a list": "actions: [allocate, backfill]\n",
    "a flag in quotes": tier("- name: gang\n  enableJobOrder: 'false'"),
    "hierarchy beside proportion": tier("- name: drf\n  enableHierarchy: true\n- name: proportion"),
    "a tab": "actions: allocate\ntiers:\n\t- plugins: []\n",
    "tiers as a text": "actions: allocate\ntiers: gang\n",
}


@pytest.mark.parametrize("name", REJECTED)
def test_an_invalid_file_leaves_the_default_in_force_and_says_so(name: str) -> None:
    configuration = upstream(REJECTED[name])
    assert configuration.actions == ("enqueue", "allocate", "backfill")
    assert len(configuration.tiers) == 2
    assert configuration.source == DEFAULT_CONF
    assert configuration.compatibility.mode == "upstream"
    (warning,) = configuration.warnings
    assert warning.endswith("; the built-in default configuration is in force")


@pytest.mark.parametrize(
    "body",
    [
        "- name: gang\n- name: frobnicate\n- name: drf",
        "- name: gang\n- name: Predicates\n- name: drf",
        "- name: gang\n  enableUnheardOf: true\n- name: drf",
        "- name: gang\n  arguments: {binpack.weight: 5}\n- name: drf",
        "- name: gang\n- {}\n- name: drf",
        "- name: gang\n  name: gang\n- name: drf",
    ],
)
def test_what_is_unknown_is_passed_over_with_a_warning(body: str) -> None:
    configuration = upstream(tier(body))
    assert plugins_of(configuration) == [["gang", "drf"]]
    (warning,) = configuration.warnings
    assert warning.endswith("; passed over")


def test_an_unknown_key_is_passed_over_with_all_that_stands_in_it() -> None:
    configuration = upstream("actions: allocate\ntier:\n- plugins: [{name: gang}]\n")
    assert configuration.tiers == ()


@pytest.mark.parametrize("spelling", ["enabledJobOrder", "enableOverused", "enabledHierarchy", "enableClusterOrder"])
def test_only_upstreams_own_spelling_of_a_flag_counts(spelling: str) -> None:
    (option,) = upstream(tier(f"- name: drf\n  {spelling}: 'anything'")).tiers[0]
    assert option.flags == DEFAULT_FLAGS


def test_an_argument_of_the_wrong_kind_leaves_the_default() -> None:
    (option,) = upstream(tier("- name: nodeorder\n  arguments: {leastrequested.weight: '0'}")).tiers[0]
    assert option.arguments.get_int("leastrequested.weight") == 1


def test_a_number_out_of_range_is_left_to_the_plugin() -> None:
    (option,) = upstream(tier("- name: nodeorder\n  arguments: {leastrequested.weight: -3}")).tiers[0]
    assert option.arguments.get_int("leastrequested.weight") == -3


def test_of_two_places_of_a_plugin_the_last_gives_the_arguments() -> None:
    body = "- name: nodeorder\n  arguments: {leastrequested.weight: 7}\n- name: nodeorder"
    configuration = upstream(tier(body))
    assert [option.arguments.get_int("leastrequested.weight") for option in configuration.tiers[0]] == [1, 1]


def test_of_two_entries_for_an_action_the_first_counts() -> None:
    entries = "".join(
        f"- name: allocate\n  arguments: {{predicateErrorCacheEnable: {value}}}\n" for value in ("false", "true")
    )
    arguments = upstream(DEFAULT_CONF + "configurations:\n" + entries).arguments_for("allocate")
    assert arguments.get_bool("predicateErrorCacheEnable") is False


def test_only_the_first_document_is_read() -> None:
    assert upstream("actions: allocate\n---\nactions: backfill\n").actions == ("allocate",)


@pytest.mark.parametrize("text", ["actions: allocate, preempt\n", tier("- name: tdm")])
def test_what_volcano_has_and_posse_has_not_is_never_passed_over(text: str) -> None:
    with pytest.raises(InputError, match="not built into Posse yet"):
        upstream(text)


def test_a_slip_in_the_compatibility_itself_is_never_passed_over() -> None:
    entry = "configurations:\n- name: compatibility\n  arguments: {conf-unknow: upstream}\n"
    with pytest.raises(InputError, match="did you mean 'conf-unknown'"):
        upstream(DEFAULT_CONF + entry)


def test_the_switch_can_be_set_without_the_mode() -> None:
    entry = "configurations:\n- name: compatibility\n  arguments: {conf-unknown: upstream}\n"
    configuration = load("actions: alloc\n" + entry, registry=PLUGINS, actions=ACTIONS)
    assert configuration.source == DEFAULT_CONF
    assert configuration.compatibility.mode == "posse"
    assert configuration.compatibility.side("conf-unknown") == "upstream"
