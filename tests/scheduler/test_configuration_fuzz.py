"""Whatever stands in a file, reading it ends in a configuration or in one clear refusal."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.errors import InputError
from posse.scheduler.configuration import DEFAULT_CONF, Configuration, load, packages_named_in, reload
from posse.scheduler.switches import Side
from tests.scheduler.conf_catalog import ACTIONS, PLUGINS

WORDS = st.sampled_from(
    [
        "actions",
        "tiers",
        "plugins",
        "name",
        "arguments",
        "configurations",
        "metrics",
        "schedule-period",
        "compatibility",
        "mode",
        "posse",
        "upstream",
        "conf-unknown",
        "allocate",
        "preempt",
        "gang",
        "drf",
        "proportion",
        "tdm",
        "enableHierarchy",
        "enabledJobOrder",
        "gang.order",
        "unready-first",
        "leastrequested.weight",
        "<<",
        "1s",
    ]
)
SCALARS = st.one_of(WORDS, st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.integers(), inner, max_size=5),
    max_leaves=25,
)
NOISE = st.lists(
    st.sampled_from(
        [*"[]{}:,-&*!|>?'\"#%@`\t\n ~", "a", "<<", "\n  ", "\n- ", ": ", "*a", "&a ", "---\n", "\x00", "\ud800"]
    ),
    max_size=40,
).map("".join)
MODES = st.sampled_from(["posse", "upstream", None])


def ends_well(text: str, mode: Side | None) -> None:
    try:
        configuration = load(text, registry=PLUGINS, actions=ACTIONS, mode=mode)
    except InputError as error:
        refusal = error.message
        assert refusal
        assert "\n" not in refusal
        return
    assert isinstance(configuration, Configuration)
    assert set(configuration.actions) <= set(ACTIONS)
    assert {option.name for tier in configuration.tiers for option in tier} <= set(PLUGINS)


@given(TREES, MODES)
@settings(max_examples=150, deadline=None)
def test_any_tree_is_taken_or_refused(tree: object, mode: Side | None) -> None:
    ends_well(yaml.safe_dump(tree), mode)


@given(st.dictionaries(WORDS, TREES, max_size=6), MODES)
@settings(max_examples=150, deadline=None)
def test_any_tree_with_known_keys_is_taken_or_refused(tree: dict[str, object], mode: Side | None) -> None:
    ends_well(yaml.safe_dump({"actions": "allocate", **tree}), mode)


@given(NOISE, st.integers(0, len(DEFAULT_CONF)), MODES)
@settings(max_examples=150, deadline=None)
def test_noise_inside_a_good_file_is_taken_or_refused(noise: str, place: int, mode: Side | None) -> None:
    ends_well(DEFAULT_CONF[:place] + noise + DEFAULT_CONF[place:], mode)


@given(st.text() | NOISE, MODES)
@settings(max_examples=150, deadline=None)
def test_any_text_is_taken_or_refused(text: str, mode: Side | None) -> None:
    ends_well(text, mode)
    assert isinstance(packages_named_in(text), tuple)


@given(NOISE)
@settings(max_examples=50, deadline=None)
def test_a_reload_never_fails_and_never_half_applies(noise: str) -> None:
    before = load(DEFAULT_CONF, registry=PLUGINS, actions=ACTIONS)
    after, error = reload(before, noise, registry=PLUGINS, actions=ACTIONS)
    assert (error is None) != (after is before)


@pytest.mark.parametrize("mode", ["posse", "upstream", None])
def test_the_same_text_gives_the_same_configuration(mode: Side | None) -> None:
    first, second = (load(DEFAULT_CONF, registry=PLUGINS, actions=ACTIONS, mode=mode) for _ in range(2))
    assert first == second
