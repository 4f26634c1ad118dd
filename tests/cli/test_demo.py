"""`posse demo`: everything it claims happens, and its manifests can be had."""

from pathlib import Path

import pytest

from tests.cli.posse import Posse


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("the demo sleeps where nobody watches"))


def test_pod_by_pod_some_jobs_end_half_started_and_with_posse_none_does(posse: Posse) -> None:
    shown = posse("demo").stdout
    before, _, after = shown.partition("WITH POSSE")

    assert "speech has 1 of the 3 pods it needs" in before
    assert "vision has 1 of the 3 pods it needs" in before
    assert "vision waits (0 ready, needs 3)" in after
    assert "vision starts 3 pods" in after


def test_the_elastic_job_grows_and_the_late_one_starts_when_it_comes(posse: Posse) -> None:
    shown = posse("demo").stdout.partition("WITH POSSE")[2]
    first, late, more = (shown.index(text) for text in ("tuning starts 4", "hotfix starts 2", "tuning starts 2"))

    assert first < late < more


def test_what_can_never_start_is_explained(posse: Posse) -> None:
    shown = posse("demo").stdout

    assert "WHY IT WAITS\ngiant (research) waits for 1 more node like gpu-1" in shown


def test_it_fits_a_terminal_of_eighty_columns_and_needs_no_colours(posse: Posse) -> None:
    shown = posse("demo").stdout

    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_its_files_can_be_had_and_run(posse: Posse, tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "demo"

    assert posse("demo", "--write", str(folder)).exit_code == 0
    run = posse("simulate", "-f", str(folder), "--config", str(folder / "scheduler.conf"))

    assert "6 of 7 gangs started" in run.stdout


def test_a_folder_that_cannot_be_is_said(posse: Posse) -> None:
    file = posse.file("file", "")

    result = posse("demo", "--write", f"{file}/below")

    assert result.exit_code == 2
    assert "cannot be written to" in result.stderr
