"""What an operator reads: one line for each thing, whatever anybody has put into it, and nothing twice."""

import asyncio
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from posse.cluster.records import Bind, Bound, CycleResult, Evict, Kept, Outcome, Refused
from posse.dialects.translator import Translator
from posse.kube.api.records import Interrupted, Record, Seen, Synced, Unreadable
from posse.kube.meta import Metadata
from posse.kube.objects import Node, Pod
from posse.live.figures import Figures
from posse.live.intake import Intake
from posse.live.journal import Journal
from posse.live.log import LONGEST, Format, JsonLines, Log, TextLines
from posse.live.watches import Watches
from tests.builders import conf, engine, gang, queue
from tests.cli.posse import Posse

NASTY = 'a\nERROR "gang placed" gang=x\r\x1b[2J\u2028\x85\u202e\ud800 ü'


class Reader:
    """A log, and what stands in it."""

    def __init__(self, form: Format, level: int = logging.DEBUG) -> None:
        self._stream = io.StringIO()
        handler = logging.StreamHandler(self._stream)
        handler.setFormatter(JsonLines() if form == "json" else TextLines())
        logger = logging.Logger("test", level)
        logger.addHandler(handler)
        self.log, self.logger = Log(logger), logger

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def lines(self) -> list[str]:
        """What was said, without the times."""
        return [line.partition(" ")[2] for line in self.text.splitlines()]

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


class Scene:
    """A journal with a clock that stands still until it is moved."""

    def __init__(self, *, dry_run: bool = False) -> None:
        self.reader, self.figures, self.now = Reader("text"), Figures(), 0.0
        self.engine = engine(conf("gang"), queue("research"), gang("a", queue="research"), gang("b"))
        self.journal = Journal(self.reader.log, self.figures, self.engine, lambda: self.now, dry_run=dry_run)

    def cycle(self, *effects: Bind | Evict, seconds: float = 0.0021) -> list[str]:
        """What is said of a cycle."""
        said = len(self.reader.lines)
        self.journal.cycle(0, CycleResult(7, effects))
        self.journal.beat(seconds)
        return self.reader.lines[said:]

    def outcomes(self, *outcomes: Outcome) -> None:
        for outcome in outcomes:
            self.journal.outcome(outcome)

    def hears(self, *batches: Iterable[Record]) -> None:
        """Let a watch of pods tell something."""

        async def told() -> Any:
            for batch in batches:
                yield list(batch)

        intake = Intake(Translator(["posse"]), [Pod, Node])
        watches = Watches(None, [], intake, [], self.journal)  # type: ignore[arg-type]
        asyncio.run(watches.follow(Pod, told()))


def bind(gang: str, number: int) -> Bind:
    return Bind(f"default/{gang}-{number}", f"{gang}-{number}", "n", f"default/{gang}")


def let_go(gang: str, number: int) -> Evict:
    return Evict(f"default/{gang}-{number}", f"{gang}-{number}", "n", f"default/{gang}", "repair", "not whole in time")


# ------------------------------------------------------------------ lines


def test_text_is_for_people() -> None:
    reader = Reader("text")
    reader.log.info("gang placed", gang="team-a/train", pods=8, why="two words", none="")

    assert reader.lines == ['INFO gang placed gang=team-a/train pods=8 why="two words" none=""']
    assert reader.text[:2] == "20"
    assert reader.text.split(" ")[0][-5:-4] == "."


def test_what_is_no_text_reads_alike_in_both() -> None:
    reader = Reader("text")
    reader.log.info("it", dry=False, ms=2.5)

    assert reader.lines == ["INFO it dry=false ms=2.5"]


def test_json_is_for_programs() -> None:
    reader = Reader("json")
    reader.log.warning("bind refused", pod="a/b", pods=2)

    (record,) = reader.records
    assert record.pop("time").endswith("Z")
    assert record == {"level": "warning", "message": "bind refused", "pod": "a/b", "pods": 2}


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_in_a_field_can_end_a_line_or_move_a_cursor(form: Format) -> None:
    reader = Reader(form)
    reader.log.info("gang placed", gang=NASTY, why=f"x{NASTY}=")

    assert reader.text.count("\n") == 1
    assert reader.text.endswith("\n")
    assert all(" " <= each <= "~" for each in reader.text[:-1])
    if form == "json":
        assert reader.records[0]["gang"] == NASTY


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_libraries_say_takes_the_same_way(form: Format) -> None:
    reader = Reader(form)
    try:
        raise ValueError(NASTY)
    except ValueError:
        reader.logger.exception("task failed: %s", NASTY)

    assert reader.text.count("\n") == 1
    assert "Traceback" in reader.text
    assert all(" " <= each <= "~" for each in reader.text[:-1])


def test_in_text_a_value_cannot_pass_for_another_field() -> None:
    reader = Reader("text")
    reader.log.info("it", why="x pods=9", other='"', sign="a=b", slash="\\")

    assert reader.lines == [r'INFO it why="x pods=9" other="\"" sign="a=b" slash="\\"']


def test_a_megabyte_is_cut_short() -> None:
    reader = Reader("json")
    reader.log.info("it", why="x" * 1_000_000)

    assert reader.records[0]["why"] == "x" * LONGEST + f" [{1_000_000 - LONGEST} more]"


# ------------------------------------------------------------------ cycles


def test_a_cycle_tells_of_each_gang_and_then_what_it_came_to() -> None:
    assert Scene().cycle(bind("a", 0), bind("b", 0), bind("a", 1)) == [
        "INFO gang placed gang=default/a queue=research pods=2",
        "INFO gang placed gang=default/b queue=default pods=1",
        "INFO cycle cycle=7 ms=2.1 binds=3 evictions=0",
    ]


def test_a_cycle_that_decides_nothing_is_not_worth_a_line() -> None:
    scene = Scene()
    assert scene.cycle() == []
    assert "posse_cycle_seconds_count 1\n" in scene.figures.text(scene.engine, ())


def test_who_only_tries_says_would() -> None:
    assert Scene(dry_run=True).cycle(bind("a", 0))[0].startswith("INFO gang would be placed gang=default/a")


def test_a_gang_that_is_let_go_is_a_repair() -> None:
    scene = Scene()
    assert scene.cycle(let_go("a", 0), let_go("a", 1))[0] == (
        'WARNING gang let go gang=default/a queue=research pods=2 action=repair reason="not whole in time"'
    )
    assert scene.figures.repairs == 1


def test_refusals_in_the_same_words_are_one_line() -> None:
    scene = Scene()
    scene.outcomes(*(Refused(f"default/a-{number}", "", "no\nroom") for number in range(3)), Bound("default/b", "", ""))
    scene.outcomes(Kept("default/c", "", "budget"))

    assert scene.cycle() == [
        r'WARNING bind refused pod=default/a-0 pods=3 reason="no\nroom"',
        "WARNING eviction refused pod=default/c pods=1 reason=budget",
    ]
    assert scene.cycle() == []
    assert dict(scene.figures.outcomes) == {"bound": 1, "refused": 3, "timed-out": 0, "kept": 1}


def test_refusals_in_many_words_are_few_lines() -> None:
    scene = Scene()
    scene.outcomes(*(Refused(f"default/a-{number}", "", f"a-{number} is not welcome") for number in range(1000)))

    said = scene.cycle()
    assert len(said) == 21
    assert said[-1] == "WARNING more was refused reasons=980"


# ------------------------------------------------------------------ the API server


def test_an_interruption_is_told_once_however_often_it_is_tried() -> None:
    scene = Scene()
    gone = Interrupted(Pod, "GET /api/v1/pods: refused")
    scene.hears([gone], [gone], [gone], [Synced(Pod)], [gone])

    assert scene.reader.lines == [
        'WARNING interrupted what="watch of Pod" why="GET /api/v1/pods: refused"',
        'INFO goes on what="watch of Pod"',
        'WARNING interrupted what="watch of Pod" why="GET /api/v1/pods: refused"',
    ]
    assert scene.figures.interruptions == {"Pod": 2}


def test_a_watch_without_news_goes_on_when_it_had_no_trouble_for_long() -> None:
    scene = Scene()
    scene.journal.interrupted("Queue", "gone")
    scene.now = 100
    scene.journal.interrupted("Queue", "gone")
    scene.now = 200
    scene.journal.tick()
    assert len(scene.reader.lines) == 1

    scene.now = 221
    scene.journal.tick()
    assert scene.reader.lines[1:] == ['INFO goes on what="watch of Queue"']


def test_a_lease_that_cannot_be_written_is_told_until_it_leads() -> None:
    scene = Scene()
    scene.journal.lease_unsure("403 Forbidden")
    scene.journal.lease_unsure("403 Forbidden")
    scene.journal.leads(True)
    scene.journal.leads(False)

    assert scene.reader.lines == [
        'WARNING interrupted what=lease why="403 Forbidden"',
        "INFO goes on what=lease",
        "INFO leading",
        "WARNING no longer leading",
    ]


def test_giving_the_lease_back_is_no_cause_for_alarm() -> None:
    scene = Scene()
    scene.outcomes(Refused("default/a", "", "shutting down"))
    scene.journal.end()
    scene.journal.leads(False)

    assert scene.reader.lines == [
        'WARNING bind refused pod=default/a pods=1 reason="shutting down"',
        "INFO lease given back",
    ]


def test_an_object_that_makes_no_sense_is_told_once_for_each_kind_of_none() -> None:
    scene = Scene()
    pod = Pod(metadata=Metadata(name="a", namespace="ns"))
    no_sense = Unreadable(Pod, "ns", "a", "u", "spec: expected `object`, got `int`")
    other = Unreadable(Pod, "ns", "a", "u", "status: expected `object`, got `int`")
    scene.hears([no_sense, no_sense], [no_sense, other, Seen(pod), Seen(pod)])

    assert scene.reader.lines == [
        'WARNING object makes no sense kind=Pod name=ns/a why="spec: expected `object`, got `int`"',
        'WARNING object makes no sense kind=Pod name=ns/a why="status: expected `object`, got `int`"',
        "INFO object makes sense again kind=Pod name=ns/a",
    ]


# ------------------------------------------------------------------ the command

NOBODY = {
    "clusters": [{"name": "it", "cluster": {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}}],
    "users": [{"name": "me", "user": {"token": "any"}}],
    "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me"}}],
    "current-context": "here",
}


@pytest.fixture
def posse(tmp_path: Path) -> Posse:
    return Posse(tmp_path)


@pytest.fixture
def unheard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the process's own logging as it is."""
    for name in ("basicConfig", "captureWarnings"):
        monkeypatch.setattr(logging, name, lambda **_: None)


def test_a_server_that_does_not_answer_at_the_start_is_the_end(posse: Posse, unheard: None) -> None:
    result = posse("scheduler", "--kubeconfig", posse.file("config", json.dumps(NOBODY)), "--listen", "none")

    assert result.exit_code == 2
    assert "https://127.0.0.1:1 cannot be reached" in result.stderr
    assert "accepted: a server that answers" in result.stderr


def test_who_reads_the_log_as_json_finds_the_end_there(posse: Posse) -> None:
    config = posse.file("config", json.dumps(NOBODY))
    flags = ["--kubeconfig", config, "--listen", "none", "--log-format", "json"]
    done = subprocess.run([sys.executable, "-m", "posse", "scheduler", *flags], capture_output=True, check=False)

    first, last = (json.loads(line) for line in done.stderr.splitlines())
    assert (done.returncode, done.stdout) == (2, b"")
    assert (first["message"], first["listen"]) == ("starting", "none")
    assert (last["level"], last["message"]) == ("error", "failed")
    assert "https://127.0.0.1:1 cannot be reached" in last["why"]


@pytest.mark.parametrize("address", ["8080", "host:port", "::1:80", ":99999", ""])
def test_where_to_listen_must_be_an_address(posse: Posse, address: str) -> None:
    result = posse("scheduler", "--kubeconfig", posse.file("config", json.dumps(NOBODY)), "--listen", address)

    assert result.exit_code == 2
    assert "--listen" in result.stderr
    assert "accepted: HOST:PORT" in result.stderr
