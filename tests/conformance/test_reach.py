"""Which worlds can be asked: computed from the configuration that would be in force."""

import pytest

from cases import Case
from reach import BUILT_IN, Parts, asked


def case(conf: str, **expect: str) -> Case:
    return Case(id="made-up", family="made-up", question={"conf": conf}, expect=expect)


CONF = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: sla
"""


def test_a_world_asks_for_the_actions_and_plugins_its_configuration_names() -> None:
    assert asked(case(CONF)) == Parts(actions=frozenset({"enqueue", "allocate"}), plugins=frozenset({"gang", "sla"}))


def test_a_plugin_that_the_peer_does_not_know_asks_nothing() -> None:
    assert asked(case(CONF + "  - name: frobnicate\n")) == asked(case(CONF))


def test_a_rejected_configuration_asks_for_the_built_in_one() -> None:
    assert asked(case("\tnot even YAML", confError="yaml: line 1")) == BUILT_IN


def test_a_world_is_in_reach_of_whoever_has_its_parts() -> None:
    assert asked(case(CONF)) <= Parts(actions=BUILT_IN.actions, plugins=BUILT_IN.plugins | {"sla"})


@pytest.mark.parametrize("missing", ["enqueue", "sla"])
def test_a_world_is_out_of_reach_when_one_part_is_missing(missing: str) -> None:
    wanted = asked(case(CONF))

    assert not wanted <= Parts(actions=wanted.actions - {missing}, plugins=wanted.plugins - {missing})
