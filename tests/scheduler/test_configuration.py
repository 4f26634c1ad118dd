"""What a configuration file says, and what it means: files that are right."""

import pytest

from posse.errors import InputError
from posse.scheduler.arguments import Argument
from posse.scheduler.conf_flags import DEFAULT_FLAGS, FLAGS
from posse.scheduler.configuration import DEFAULT_CONF, PluginOption, PluginSpec, load, packages_named_in, reload
from posse.scheduler.registry import built_in
from tests.scheduler.conf_catalog import ACTIONS, PLUGINS, configured, plugins_of


def option(body: str) -> PluginOption:
    """The first plugin of a file whose plugins are these lines."""
    lines = "\n".join("  " + line for line in body.splitlines())
    return configured(f"actions: allocate\ntiers:\n- plugins:\n{lines}\n").tiers[0][0]


def test_the_default_configuration_is_volcanos() -> None:
    configuration = configured(DEFAULT_CONF)
    assert configuration.actions == ("enqueue", "allocate", "backfill")
    assert plugins_of(configuration) == [
        ["priority", "gang", "conformance"],
        ["overcommit", "drf", "predicates", "proportion", "nodeorder"],
    ]
    assert configuration.warnings == ()
    assert configuration.compatibility.mode == "posse"
    assert configuration.schedule_period == 10**9


def test_the_text_in_force_can_be_shown_again() -> None:
    assert configured(DEFAULT_CONF).source == DEFAULT_CONF


@pytest.mark.parametrize("written", ["allocate,backfill", " allocate , backfill ", ">-\n  allocate,\n  backfill"])
def test_actions_stand_between_commas_with_or_without_blanks(written: str) -> None:
    assert configured(f"actions: {written}\ntiers: []\n").actions == ("allocate", "backfill")


def test_an_action_may_run_twice_in_a_cycle() -> None:
    assert configured("actions: allocate, backfill, allocate").actions == ("allocate", "backfill", "allocate")


def test_a_file_without_plugins_is_taken_and_warned_of() -> None:
    configuration = configured("actions: allocate\n")
    assert configuration.tiers == ()
    assert configuration.warnings == ("line 1, tiers: no plugin is named, so none takes part",)


# ------------------------------------------------------------------ flags


def test_flags_that_nobody_sets_are_on_but_for_two() -> None:
    assert option("- name: gang").flags == DEFAULT_FLAGS
    assert {spelling.flag for spelling in FLAGS} - DEFAULT_FLAGS == {"cluster_order", "hierarchy"}


@pytest.mark.parametrize("spelling", ["enableJobOrder", "enabledJobOrder"])
def test_a_flag_may_be_spelt_with_enable_and_with_enabled(spelling: str) -> None:
    assert DEFAULT_FLAGS - option(f"- name: gang\n  {spelling}: false").flags == {"gang_order"}


@pytest.mark.parametrize("off", ["false", "False", "no", "off", "n"])
def test_a_flag_is_off_by_any_word_for_no(off: str) -> None:
    assert "preemptable" not in option(f"- name: gang\n  enablePreemptable: {off}").flags


@pytest.mark.parametrize("nothing", ["", "null", "~"])
def test_a_flag_that_is_set_to_nothing_keeps_its_default(nothing: str) -> None:
    assert option(f"- name: gang\n  enablePreemptable: {nothing}").flags == DEFAULT_FLAGS


@pytest.mark.parametrize("spelling", ["EnabledClusterOrder", "enableClusterOrder", "enabledClusterOrder"])
def test_a_flag_that_is_off_can_be_switched_on(spelling: str) -> None:
    assert option(f"- name: gang\n  {spelling}: true").flags == DEFAULT_FLAGS | {"cluster_order"}


def test_every_flag_has_its_own_word() -> None:
    for spelling in FLAGS:
        changed = option(f"- name: gang\n  {spelling.upstream}: {str(not spelling.default).lower()}").flags
        assert changed ^ DEFAULT_FLAGS == {spelling.flag}


def test_hierarchy_and_proportion_may_stand_in_different_tiers() -> None:
    text = """
actions: allocate
tiers:
- plugins: [{name: drf, enableHierarchy: true}]
- plugins: [{name: proportion}]
"""
    assert plugins_of(configured(text)) == [["drf"], ["proportion"]]


# ------------------------------------------------------------------ arguments


def test_arguments_have_their_defaults_until_the_file_gives_them() -> None:
    arguments = option("- name: nodeorder\n  arguments:\n    leastrequested.weight: 5").arguments
    assert arguments.get_int("leastrequested.weight") == 5
    assert arguments.get_int("mostrequested.weight") == 0
    assert arguments.is_given("leastrequested.weight")
    assert not arguments.is_given("mostrequested.weight")


def test_a_plugin_that_stands_in_two_places_has_flags_in_each_and_arguments_once() -> None:
    text = """
actions: allocate
tiers:
- plugins:
  - name: nodeorder
    enableNodeOrder: false
    arguments: {leastrequested.weight: 3}
- plugins:
  - name: nodeorder
    arguments: {leastrequested.weight: 3}
"""
    (first,), (second,) = configured(text).tiers
    assert "node_score" not in first.flags
    assert "node_score" in second.flags
    assert first.arguments == second.arguments


def test_every_action_has_arguments_whether_the_file_names_it_or_not() -> None:
    assert configured(DEFAULT_CONF).arguments_for("allocate").get_bool("predicateErrorCacheEnable") is True
    entry = "configurations:\n- name: allocate\n  arguments: {predicateErrorCacheEnable: false}\n"
    assert configured(DEFAULT_CONF + entry).arguments_for("allocate").get_bool("predicateErrorCacheEnable") is False


def test_a_setting_is_read_by_who_owns_it() -> None:
    entry = "configurations:\n- name: koordinator\n  arguments: {default-waiting-time: 90s}\n"
    declared = (Argument("default-waiting-time", "duration", "600s"),)
    assert (
        configured(DEFAULT_CONF + entry).setting("koordinator", declared).get_duration("default-waiting-time")
        == 90 * 10**9
    )
    assert configured(DEFAULT_CONF).setting("koordinator", declared).get_duration("default-waiting-time") == 600 * 10**9


def test_a_slip_in_a_setting_is_found_by_who_owns_it() -> None:
    entry = "configurations:\n- name: koordinator\n  arguments:\n    default-waiting-tim: 90s\n"
    with pytest.raises(InputError, match="did you mean 'default-waiting-time'"):
        configured(DEFAULT_CONF + entry).setting("koordinator", (Argument("default-waiting-time", "duration", "600s"),))


def test_arguments_of_a_plugin_under_configurations_are_warned_of() -> None:
    entry = "configurations:\n- name: gang\n  arguments: {gang.order: unready-first}\n"
    (warning,) = configured(DEFAULT_CONF + entry).warnings
    assert warning.startswith("line 14, configurations[0]: no effect;")


@pytest.mark.parametrize("name", ["koordinator", "preempt", "capacity"])
def test_an_entry_that_nobody_reads_yet_is_warned_of(name: str) -> None:
    (warning,) = configured(DEFAULT_CONF + f"configurations:\n- name: {name}\n  arguments: {{foo: bar}}\n").warnings
    assert warning == f"line 14, configurations[0]: no effect; the entry {name} is not read yet"


def test_an_entry_that_is_read_is_not_warned_of() -> None:
    entries = "configurations:\n- name: repair\n- name: compatibility\n- name: allocate\n"
    assert configured(DEFAULT_CONF + entries).warnings == ()


@pytest.mark.parametrize("tiers", ["", "tiers: []\n", "tiers:\n- plugins: []\n"])
def test_a_file_without_any_plugin_is_warned_of(tiers: str) -> None:
    (warning,) = configured(f"actions: allocate\n{tiers}").warnings
    assert "no plugin is named" in warning


def test_a_plugin_twice_in_a_tier_is_warned_of() -> None:
    plugins = "  - name: gang\n  - name: drf\n  - name: gang\n"
    text = f"actions: allocate\ntiers:\n- plugins:\n{plugins}- plugins: [{{name: drf}}]\n"
    (warning,) = configured(text).warnings
    assert warning.startswith("line 6, tiers[0].plugins[2]: the plugin gang stands in this tier a second time")


@pytest.mark.parametrize("action", ["allocate", "backfill"])
def test_what_upstreams_actions_take_is_taken(action: str) -> None:
    known = built_in()
    text = DEFAULT_CONF + f"configurations:\n- name: {action}\n  arguments: {{predicateErrorCacheEnable: false}}\n"
    assert load(text, registry=known.plugin_specs(), actions=known.action_specs()).warnings == ()


# ------------------------------------------------------------------ the other keys


def test_metrics_are_text_whatever_they_look_like() -> None:
    text = DEFAULT_CONF + "metrics:\n  type: prometheus\n  interval: 30s\n  port: 9090\n"
    assert configured(text).metrics == {"type": "prometheus", "interval": "30s", "port": "9090"}


def test_the_schedule_period_is_a_duration() -> None:
    assert configured(DEFAULT_CONF + "schedule-period: 1m30.5s").schedule_period == 90_500_000_000


def test_packages_can_be_read_before_their_plugins_are_known() -> None:
    text = "actions: allocate\ntiers:\n- plugins: [{name: mine}]\nplugins: [my_package, ./mine.py]\n"
    assert [package.name for package in packages_named_in(text)] == ["my_package", "./mine.py"]
    registry = {**PLUGINS, "mine": PluginSpec("mine")}
    assert load(text, registry=registry, actions=ACTIONS).packages == packages_named_in(text)


def test_packages_of_a_broken_file_are_none_because_reading_it_will_say_more() -> None:
    assert packages_named_in("plugins: {") == ()


def test_a_file_may_be_json() -> None:
    assert plugins_of(configured('{"actions": "allocate", "tiers": [{"plugins": [{"name": "gang"}]}]}')) == [["gang"]]


# ------------------------------------------------------------------ reloading


def test_a_reloaded_file_stands_alone() -> None:
    entry = "configurations:\n- name: allocate\n  arguments: {predicateErrorCacheEnable: false}\n"
    before = configured(DEFAULT_CONF + entry)
    after, error = reload(before, DEFAULT_CONF, registry=PLUGINS, actions=ACTIONS)
    assert error is None
    assert after.arguments_for("allocate").get_bool("predicateErrorCacheEnable") is True


@pytest.mark.parametrize("mode", ["posse", "upstream"])
@pytest.mark.parametrize("text", ["actions: allocat", "actions: {", "actions: preempt"])
def test_a_bad_file_is_refused_and_the_one_in_force_stays(text: str, mode: str) -> None:
    before = configured("actions: backfill\ntiers: [{plugins: [{name: gang}]}]")
    after, error = reload(
        before, text, registry=PLUGINS, actions=ACTIONS, mode="posse" if mode == "posse" else "upstream"
    )
    assert after is before
    assert error is not None
    assert error.place.line == 1
