"""Explaining a run: the explanations of all its gangs, made once, in the form in which results show them."""

from collections.abc import Callable
from typing import Any

import msgspec

from posse.simulation import unclaimed
from posse.simulation.canonical import canonical
from posse.simulation.run import Run
from posse.simulation.situation import SimulatedSituation
from posse.whatif.explain import DEFAULT_RUNS, Explainer
from posse.whatif.explanation import Explanation

Explain = Callable[[str], "dict[str, object] | None"]


def explanations(run: Run) -> Explain:
    """Explain every gang of a run that is over; the allowance goes to the waiting ones in the order of their line."""
    situation, runs = SimulatedSituation(run), _allowance(run)
    explained = Explainer(situation, runs).all()
    return lambda gang: _plain(explained.get(gang) or unclaimed.explained(situation, gang, runs))


def explanation_of(run: Run, gang: str) -> Explain:
    """Explain one gang, which gets the whole allowance."""
    situation, runs = SimulatedSituation(run), _allowance(run)
    explained = {gang: Explainer(situation, runs).one(gang) or unclaimed.explained(situation, gang, runs)}
    return lambda asked: _plain(explained.get(asked))


def _allowance(run: Run) -> int:
    runs = run.options.what_if_runs
    return DEFAULT_RUNS if runs is None else runs


def _plain(explanation: Explanation | None) -> dict[str, object] | None:
    if explanation is None:
        return None
    record: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(explanation))  # lists, and no tuples
    remedies = record["remedies"]
    return {**record, "remedies": [{**each, "patch": canonical(each.get("patch", []))} for each in remedies]}
