"""How the answers of several plugins make one. The plugins here say what they are told to say."""

from typing import Any, ClassVar

import pytest

from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang, Queue, Task
from posse.scheduler.plugin import ABSTAIN, PERMIT, Key, Opinion, Plugin, Vote
from posse.scheduler.registry import Registry, built_in
from posse.scheduler.tiers import Tiers
from tests.builders import conf, engine, gang, the_gang, the_queue

NO = Blocker(kind="plugin", plugin="p", message="no")
REJECT = Opinion(Vote.REJECT, NO)


def saying(name: str, **answers: Any) -> type[Plugin]:
    """A plugin that gives fixed answers, and writes down that it was asked."""

    def method(point: str, answer: Any) -> Any:
        def said(self: Plugin, *_: object, **__: object) -> Any:
            self.state.append((name, point))
            return answer

        return said

    methods = {point: method(point, answer) for point, answer in answers.items()}
    made: type[Plugin] = type(f"{name.title()}Plugin", (Plugin,), {"name": name, "__doc__": "Say it.", **methods})
    return made


class Panel:
    """Plugins in tiers, before a gang."""

    asked: ClassVar[list[tuple[str, str]]]

    def __init__(self, *tiers: list[type[Plugin] | tuple[type[Plugin], dict[str, bool]]]) -> None:
        seats = [[each if isinstance(each, tuple) else (each, {}) for each in tier] for tier in tiers]
        known = built_in()
        plugins = {plugin.name: plugin for tier in seats for plugin, _ in tier}
        text = conf(*([{"name": plugin.name, **flags} for plugin, flags in tier] for tier in seats))
        registry = Registry({**known.plugins, **plugins}, known.actions)
        self.engine = engine(text, gang("g"), registry=registry)
        self.tiers: Tiers = self.engine.tiers
        self.gang: Gang = the_gang(self.engine, "g")
        self.queue: Queue = the_queue(self.engine, "default")
        self.asked: list[tuple[str, str]] = []
        for plugin in self.tiers.plugins:
            plugin.state = self.asked


def votes(point: str, *tiers: list[object]) -> Panel:
    """A panel of plugins that answer one question."""
    return Panel(
        *([saying(f"p{row}{at}", **{point: each}) for at, each in enumerate(tier)] for row, tier in enumerate(tiers))
    )


# ---------------------------------------------------------------------- admission: votes, tier by tier

ADMISSION = [
    ("nobody has an opinion", [[ABSTAIN], [ABSTAIN]], True, 2),
    ("one permits", [[PERMIT]], True, 1),
    ("in one tier a rejection beats a permission", [[PERMIT, REJECT]], False, 2),
    ("all of a tier are asked until one rejects", [[REJECT, PERMIT]], False, 1),
    ("a permission ends the vote before the next tier", [[PERMIT], [REJECT]], True, 1),
    ("a tier without an opinion leaves it to the next", [[ABSTAIN], [REJECT]], False, 2),
    ("a rejection ends it", [[REJECT], [PERMIT]], False, 1),
]


@pytest.mark.parametrize(
    ("tiers", "admitted", "asked"), [each[1:] for each in ADMISSION], ids=[each[0] for each in ADMISSION]
)
def test_admission(tiers: list[list[object]], admitted: bool, asked: int) -> None:
    panel = votes("gang_enqueueable", *tiers)

    assert (panel.tiers.gang_not_enqueueable(panel.gang) is None) is admitted
    assert len(panel.asked) == asked


def test_whoever_keeps_a_gang_out_says_why() -> None:
    panel = votes("gang_enqueueable", [REJECT])

    refusal = panel.tiers.gang_not_enqueueable(panel.gang)

    assert refusal is not None
    assert refusal.blocker is NO


# ---------------------------------------------------------------------- pipelined, ready, starving, refusals

PIPELINED = [
    ("nobody asks for it", [[Vote.ABSTAIN]], True),
    ("a rejection in the first tier", [[Vote.PERMIT, Vote.REJECT], [Vote.PERMIT]], False),
    ("a permission ends it", [[Vote.ABSTAIN, Vote.PERMIT], [Vote.REJECT]], True),
    ("the second tier decides where the first is silent", [[Vote.ABSTAIN], [Vote.REJECT]], False),
]


@pytest.mark.parametrize(("tiers", "carried"), [each[1:] for each in PIPELINED], ids=[each[0] for each in PIPELINED])
def test_pipelined(tiers: list[list[object]], carried: bool) -> None:
    panel = votes("gang_pipelined", *tiers)

    assert panel.tiers.gang_pipelined(panel.gang) is carried


@pytest.mark.parametrize(
    ("answers", "ready"), [([[True], [True]], True), ([[True], [False]], False), ([[False, True]], False)]
)
def test_ready_is_what_all_agree_on_whatever_their_tier(answers: list[list[object]], ready: bool) -> None:
    panel = votes("gang_ready", *answers)

    assert panel.tiers.gang_ready(panel.gang) is ready


@pytest.mark.parametrize(
    ("answers", "starving"), [([[True, True], [False]], True), ([[True, False]], False), ([[False], [True]], False)]
)
def test_starving_is_what_all_of_the_first_tier_say(answers: list[list[object]], starving: bool) -> None:
    panel = votes("gang_starving", *answers)

    assert panel.tiers.gang_starving(panel.gang) is starving


def test_a_gang_starves_only_if_anybody_says_so() -> None:
    panel = votes("gang_ready", [True])

    assert panel.tiers.gang_starving(panel.gang) is False


@pytest.mark.parametrize(
    ("answers", "refused"), [([[None], [None]], False), ([[None], [NO]], True), ([[NO, None]], True)]
)
def test_the_first_refusal_of_a_gang_counts(answers: list[list[object]], refused: bool) -> None:
    panel = votes("gang_valid", *answers)

    assert panel.tiers.gang_invalid(panel.gang) is (NO if refused else None)


@pytest.mark.parametrize(("answers", "refused"), [([[None], [None]], False), ([[None], [NO]], True)])
def test_the_first_refusal_of_a_queue_counts(answers: list[list[object]], refused: bool) -> None:
    panel = votes("queue_overused", *answers)

    assert panel.tiers.queue_overused(panel.queue) is (NO if refused else None)


# ---------------------------------------------------------------------- who is asked at all


def test_whoever_does_not_override_a_question_is_not_asked() -> None:
    panel = Panel([saying("quiet", queue_overused=None), saying("loud", gang_ready=False)])
    panel.tiers.gang_ready(panel.gang)

    assert panel.asked == [("loud", "gang_ready")]


@pytest.mark.parametrize(
    ("flag", "point", "answer"),
    [
        ("enableJobReady", "gang_ready", False),
        ("enableJobPipelined", "gang_pipelined", Vote.REJECT),
        ("enableJobStarving", "gang_starving", True),
        ("enableJobEnqueued", "gang_enqueueable", REJECT),
        ("enabledOverused", "queue_overused", NO),
    ],
)
def test_a_flag_that_is_off_silences_a_plugin_at_one_question(flag: str, point: str, answer: object) -> None:
    panel = Panel([(saying("p", **{point: answer}), {flag: False})])
    ask = {
        "gang_ready": lambda: panel.tiers.gang_ready(panel.gang),
        "gang_pipelined": lambda: panel.tiers.gang_pipelined(panel.gang),
        "gang_starving": lambda: panel.tiers.gang_starving(panel.gang),
        "gang_enqueueable": lambda: panel.tiers.gang_not_enqueueable(panel.gang),
        "queue_overused": lambda: panel.tiers.queue_overused(panel.queue),
    }
    ask[point]()

    assert panel.asked == []


def test_validity_has_no_flag() -> None:
    off = {"enableJobReady": False, "enableJobPipelined": False, "enableJobOrder": False}
    panel = Panel([(saying("p", gang_valid=NO), off)])

    assert panel.tiers.gang_invalid(panel.gang) is NO


# ---------------------------------------------------------------------- orders


class ByLength(Plugin):
    """Put short names first."""

    name: ClassVar[str] = "length"

    def gang_order(self, gang: Gang) -> Key:
        return len(gang.fact.name)

    def task_order(self, task: Task) -> Key:
        return len(task.fact.name)


class ByLetter(Plugin):
    """Put names by their last letter."""

    name: ClassVar[str] = "letter"

    def gang_order(self, gang: Gang) -> Key:
        return gang.fact.name[-1]


def test_keys_are_compared_in_turn_then_age_then_name() -> None:
    known = built_in()
    registry = Registry({**known.plugins, "length": ByLength, "letter": ByLetter}, known.actions)
    gangs = [gang("bb"), gang("ab"), gang("cca"), gang("z"), gang("xb", created=-1)]
    first, second = (engine(conf(names), *gangs, registry=registry) for names in ("length letter", "letter length"))

    def in_line(running: Any) -> list[str]:
        rows = [Gang(running.world, row) for row in running.world.gangs.declared()]
        return [each.fact.name for each in sorted(rows, key=running.tiers.gang_key)]

    assert in_line(first) == ["z", "xb", "ab", "bb", "cca"]
    assert in_line(second) == ["cca", "xb", "ab", "bb", "z"]
