"""A change is tried once, whoever asks; what plugins raise in a trial stays there."""

import pytest

from posse.errors import Place
from posse.kube.manifests import from_values
from posse.scheduler.engine import Engine
from posse.scheduler.plugins.gang import GangPlugin
from posse.simulation.run import Run
from posse.simulation.scenario import Options, Scenario
from posse.simulation.situation import SimulatedSituation
from posse.whatif.explain import Explainer
from posse.whatif.explanation import Change
from posse.whatif.trials import Trials
from tests.whatif.pictures import gang, node

WAITING = [node("n1"), *gang("a", 1, 1, cpu=3), *gang("b", 1, 1, cpu=3), *gang("c", 1, 1, cpu=3)]
ONE_MORE = Change((node("n2"),))


class Counting(SimulatedSituation):
    """A situation that counts its trials."""

    made = 0

    def trial(self, change):
        self.made += 1
        return super().trial(change)


def situation() -> Counting:
    run = Run(Scenario(tuple(from_values(WAITING, Place())), options=Options()))
    run.to_the_end()
    return Counting(run)


def test_gangs_that_ask_the_same_share_a_trial():
    here = situation()
    trials = Trials(here)

    assert not trials.starts(ONE_MORE, "default/c")
    assert trials.starts(ONE_MORE, "default/b")
    assert here.made == 1


def test_a_trial_that_ended_early_is_run_again_for_who_had_not_started():
    here = situation()
    trials = Trials(here)

    assert trials.starts(ONE_MORE, "default/b")
    assert not trials.starts(ONE_MORE, "default/c")
    assert not trials.starts(ONE_MORE, "default/c")
    assert here.made == 2


def test_other_changes_are_other_trials():
    trials = Trials(situation())

    assert not trials.starts(ONE_MORE, "default/c")
    assert trials.starts(Change((node("n2"), node("n3"))), "default/c")


def test_the_answers_are_those_of_trials_run_for_each_gang_alone():
    explained = Explainer(situation()).all()

    for name in ("default/b", "default/c"):
        assert Explainer(situation()).one(name) == explained[name]


def raises_with_new_nodes(self, gang):
    if "n1-more-1" in self.world.nodes:
        raise ZeroDivisionError("no such luck")
    return gang.is_ready


def test_a_plugin_that_raises_in_a_trial_costs_that_remedy_only(monkeypatch: pytest.MonkeyPatch):
    here = situation()
    monkeypatch.setattr(GangPlugin, "gang_ready", raises_with_new_nodes)

    explanation = Explainer(here).one("default/b")

    assert explanation is not None
    assert [remedy.action for remedy in explanation.remedies] == ["free-resources"]


def test_if_nothing_helps_the_summary_says_what_a_plugin_raised(monkeypatch: pytest.MonkeyPatch):
    def raises(self, gang):
        raise ZeroDivisionError("no such luck")

    here = situation()
    monkeypatch.setattr(GangPlugin, "gang_ready", raises)

    explanation = Explainer(here).one("default/b")

    assert explanation is not None
    assert explanation.remedies == ()
    assert "plugin gang, raises: raised ZeroDivisionError: no such luck" in explanation.summary


def test_what_the_engine_itself_raises_goes_on(monkeypatch: pytest.MonkeyPatch):
    def raises(engine, session):
        raise AssertionError

    here = situation()
    monkeypatch.setattr(Engine, "_act", raises)

    with pytest.raises(AssertionError):
        Explainer(here).one("default/b")
