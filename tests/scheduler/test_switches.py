"""Which side holds where Posse and upstream differ."""

import pytest

from posse.errors import InputError
from posse.scheduler.configuration import DEFAULT_CONF, Configuration, load
from posse.scheduler.switches import SWITCHES, Compatibility, Side
from tests.scheduler.conf_catalog import ACTIONS, PLUGINS


def compatible(arguments: str, mode: Side | None = None, gang: str = "") -> Configuration:
    """The default configuration with a compatibility entry, and with arguments for the plugin gang."""
    text = DEFAULT_CONF.replace("- name: gang\n", f"- name: gang\n    arguments: {{{gang}}}\n")
    text += f"configurations:\n- name: compatibility\n  arguments: {{{arguments}}}\n"
    return load(text, registry=PLUGINS, actions=ACTIONS, mode=mode)


def gang_order(configuration: Configuration) -> str:
    return configuration.tiers[0][1].arguments.get_str("gang.order")


def test_posses_own_side_holds_unless_something_is_said() -> None:
    assert {Compatibility().side(switch.name) for switch in SWITCHES} == {"posse"}


def test_the_mode_moves_every_switch() -> None:
    compatibility = Compatibility("upstream")
    assert {compatibility.side(switch.name) for switch in SWITCHES} == {"upstream"}


def test_a_named_switch_beats_the_mode() -> None:
    compatibility = compatible("mode: upstream, overcommit: posse").compatibility
    assert compatibility.side("overcommit") == "posse"
    assert compatibility.side("pipelined-life") == "upstream"


def test_a_mode_from_outside_beats_the_files_mode() -> None:
    assert compatible("mode: upstream", mode="posse").compatibility.side("overcommit") == "posse"
    assert compatible("mode: posse", mode="upstream").compatibility.side("overcommit") == "upstream"


def test_a_switch_that_the_file_names_beats_a_mode_from_outside() -> None:
    assert compatible("overcommit: posse", mode="upstream").compatibility.side("overcommit") == "posse"


def test_every_switch_says_both_sides_and_why() -> None:
    for switch in SWITCHES:
        assert switch.posse.endswith(".")
        assert switch.upstream.endswith(".")
        assert switch.posse != switch.upstream
        assert switch.why


@pytest.mark.parametrize(
    ("arguments", "order"),
    [("", "ready-first"), ("mode: upstream", "unready-first"), ("gang-order: upstream", "unready-first")],
)
def test_the_order_of_gangs_follows_its_switch(arguments: str, order: str) -> None:
    assert gang_order(compatible(arguments)) == order


def test_the_argument_of_the_plugin_is_the_same_knob_and_beats_the_mode() -> None:
    assert gang_order(compatible("mode: upstream", gang="gang.order: ready-first")) == "ready-first"
    assert gang_order(compatible("", gang="gang.order: unready-first")) == "unready-first"


def test_the_argument_and_its_switch_may_say_the_same() -> None:
    assert gang_order(compatible("gang-order: upstream", gang="gang.order: unready-first")) == "unready-first"


def test_the_argument_and_its_switch_may_not_contradict_each_other() -> None:
    with pytest.raises(InputError, match="contradicts the compatibility switch gang-order: upstream"):
        compatible("gang-order: upstream", gang="gang.order: ready-first")
