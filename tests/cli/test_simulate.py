"""`posse simulate`: files in, what would happen out."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.manifests import CONF, Manifest, deployment, job, node, pod, queue, written
from tests.cli.posse import Posse

CLUSTER: list[Manifest] = [
    *(node(f"n{number}", 8) for number in range(1, 4)),
    queue("research", 2),
    queue("product", 1),
    job("train", 4, 2, queue="research", run_time="10m"),
    job("serve", 2, 1, queue="product"),
    job("giant", 9, 3, queue="research"),
    deployment("web", 2),
    {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}},
]


def test_a_person_sees_gangs_queues_nodes_and_why_the_rest_waits(posse: Posse) -> None:
    result = posse.on("simulate", CLUSTER)

    assert result.exit_code == 0, result.output
    headings = [line for line in result.stdout.splitlines() if line.isupper() and not line.startswith(" ")]
    assert headings == ["GANGS", "QUEUES", "NODES", "WHY IT WAITS", "IGNORED"]
    assert "4 of 5 gangs started" in result.stdout


def test_the_gang_of_a_job_is_shown_by_the_name_of_its_job(posse: Posse) -> None:
    shown = posse.on("simulate", CLUSTER).stdout

    assert "\ntrain   " in shown
    assert "-0000-4000-8000-" not in shown


def test_no_line_is_wider_than_eighty_columns_however_long_the_names(posse: Posse) -> None:
    long = "x" * 60
    cluster = [node(f"n-{long}", 8), queue(f"q-{long}"), job(f"j-{long}", 2, queue=f"q-{long}"), job("big", 9, 9)]

    for words in ((), ("--events",), ("--compare", str(posse.folder / "scheduler.conf"))):
        lines = posse.on("simulate", cluster, *words).stdout.splitlines()
        assert max(map(len, lines)) <= 80


def test_nothing_is_cut_off_where_it_does_not_fit(posse: Posse) -> None:
    long = "abcdefghij" * 6
    shown = posse.on("simulate", [node(long, 8), pod("p")]).stdout

    column = "".join(line.split("  ")[0].strip() for line in shown.partition("NODES")[2].splitlines()[2:])
    assert long in column
    assert "…" not in shown


def test_what_is_piped_has_no_colours_and_no_trailing_spaces(posse: Posse) -> None:
    shown = posse.on("simulate", CLUSTER, "--events").stdout

    assert "\x1b" not in shown
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_a_wide_pipe_is_used(posse: Posse) -> None:
    narrow, wide = posse.on("simulate", CLUSTER), posse.on("simulate", CLUSTER, COLUMNS="160")

    assert len(wide.stdout.splitlines()) < len(narrow.stdout.splitlines())


def test_events_tell_the_run_from_arrival_to_end(posse: Posse) -> None:
    cluster = [node("n1"), job("early", 2, 2, run_time="1m"), job("late", 2, 2, arrival="30s", run_time="1m")]

    timeline = posse.on("simulate", cluster, "--events").stdout.partition("TIMELINE\n")[2]

    assert timeline.splitlines() == [
        "0s  cycle 1",
        "    early starts 2 pods on n1 ×2",
        "30s  cycle 4",
        "    late waits (0 ready, needs 2)",
        "1m 1s  cycle 6",
        "    early is finished",
        "    late starts 2 pods on n1 ×2",
        "2m 2s  cycle 9",
        "    late is finished",
    ]


def test_programs_get_the_record_and_nothing_else(posse: Posse) -> None:
    record = posse.record([node("n1"), pod("p")])

    assert record["binds"] == {"default/p": "n1"}
    assert record["gangs"]["default/p"]["nodes"] == {"n1": 1}


def test_yaml_is_the_same_record(posse: Posse) -> None:
    as_yaml = posse.on("simulate", CLUSTER, "-o", "yaml").stdout

    assert yaml.safe_load(as_yaml) == posse.record(CLUSTER)


def test_the_order_of_objects_and_files_does_not_matter(posse: Posse) -> None:
    first = posse.on("simulate", CLUSTER, "-o", "json").stdout
    shuffled = random.Random(7).sample(CLUSTER, len(CLUSTER))
    halves = [
        written(posse.folder / "b.json", [dict(reversed(each.items())) for each in shuffled[:4]]),
        written(posse.folder / "a.json", shuffled[4:]),
    ]

    conf = str(posse.folder / "scheduler.conf")
    again = posse("simulate", "-f", halves[0], "-f", halves[1], "--config", conf, "-o", "json").stdout

    assert again == first


def test_two_processes_with_other_hash_seeds_write_the_same_bytes(tmp_path: Path) -> None:
    file, conf = written(tmp_path / "cluster.json", CLUSTER), tmp_path / "scheduler.conf"
    conf.write_text(CONF, encoding="utf-8")
    command = [sys.executable, "-c", "from posse.cli.main import main; main()"]
    words = ["simulate", "-f", file, "--config", str(conf), "-o", "json", "--what-if-runs", "8"]

    outputs = {
        subprocess.run(
            [*command, *words], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1


def test_manifests_may_come_from_a_pipe(posse: Posse) -> None:
    text = "\n---\n".join(json.dumps(each) for each in [node("n1"), pod("p")])

    result = posse("simulate", "-f", "-", "--config", str(posse.folder / "scheduler.conf"), "-o", "json", stdin=text)

    assert json.loads(result.stdout)["binds"] == {"default/p": "n1"}


def test_a_folder_may_hold_other_files_besides_and_that_is_said(posse: Posse) -> None:
    (posse.folder / "all").mkdir()
    written(posse.folder / "all" / "cluster.json", [node("n1"), pod("p")])
    posse.file("all/steps.yaml", "- {after_cycle: 1, delete: [{kind: Node, name: n1}]}")

    folder = str(posse.folder / "all")
    record = json.loads(posse("simulate", "-f", folder, "-o", "json").stdout)
    explained = posse("explain", "p", "-f", folder).stdout

    assert record["binds"] == {"default/p": "n1"}
    assert record["warnings"] == [f"skipped, no manifests: {folder}/steps.yaml"]
    assert "skipped, no manifests:" in explained


def test_steps_change_the_cluster_on_the_way(posse: Posse) -> None:
    steps = posse.file("steps.yaml", yaml.safe_dump([{"after_cycle": 1, "apply": [node("n2", 8)]}]))

    record = posse.record([node("n1", 1), pod("p", 4)], "--steps", steps, "--cycles", "2")

    assert record["binds"] == {"default/p": "n2"}


def test_a_run_stops_when_its_time_is_over(posse: Posse) -> None:
    record = posse.record([node("n1"), pod("p", **{"posse.dev/run-time": "1h"})], "--until", "10m")

    assert record["time"] <= 600
    assert not record["fixpoint"]


def test_the_clock_starts_when_it_is_told_to(posse: Posse) -> None:
    cluster = [node("n1", 2), job("a", 2, 1, run_time="1m"), job("b", 2, 1, run_time="1m")]

    waiting = posse.record(cluster, "--cycles", "2", "--now", "2030-05-01T00:00:00Z")["gangs"]

    starts = [gang["explanation"]["estimate"]["start"] for gang in waiting.values()]
    assert any(start and start.startswith("2030-05-01T00:01") for start in starts)


def test_only_pods_of_the_named_schedulers_are_placed(posse: Posse) -> None:
    record = posse.record([node("n1"), pod("p"), job("j", 1)], "--scheduler-names", "volcano")

    assert list(record["binds"]) == ["default/j-worker-0"]


def test_require_all_fails_when_a_gang_did_not_start(posse: Posse) -> None:
    assert posse.on("simulate", [node("n1"), job("small", 2)], "--require-all").exit_code == 0
    assert posse.on("simulate", [node("n1"), job("large", 9)], "--require-all").exit_code == 1


def test_require_all_fails_when_the_group_of_pods_is_not_there(posse: Posse) -> None:
    orphans = [pod(f"g-{n}", **{"scheduling.k8s.io/group-name": "g"}) for n in range(2)]
    orphans[0] |= {"spec": {**orphans[0]["spec"], "nodeName": "n1"}, "status": {"phase": "Running"}}

    assert posse.on("simulate", [node("n1"), *orphans], "--require-all").exit_code == 1


@pytest.mark.parametrize(("minimum", "code"), [(3, 1), (0, 0)])
def test_a_gang_without_members_has_not_started_if_it_needs_some(minimum: int, code: int, posse: Posse) -> None:
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"minMember": minimum},
    }

    result = posse.on("simulate", [node("n1"), group], "--require-all")

    assert result.exit_code == code
    assert result.stdout.startswith("0 of 1 gang started" if code else "no gangs")


def test_an_empty_cluster_is_no_fault(posse: Posse) -> None:
    result = posse.on("simulate", [])

    assert result.exit_code == 0
    assert result.stdout.startswith("no gangs, 0 pods bound")


def test_many_nodes_are_shown_by_their_shape(posse: Posse) -> None:
    cluster = [
        *(node(f"small-{number}") for number in range(20)),
        *(node(f"large-{number}", 16) for number in range(9)),
    ]

    shown = posse.on("simulate", cluster).stdout

    assert "small-* (20)" in shown
    assert "large-* (9)" in shown


def test_many_single_pods_are_counted(posse: Posse) -> None:
    shown = posse.on("simulate", [node("n1", 64), *(pod(f"p{number}") for number in range(30))]).stdout

    assert "(single pods)" in shown
    assert "p17" not in shown


def test_another_configuration_is_compared_gang_by_gang(posse: Posse) -> None:
    idle = posse.file("idle.conf", 'actions: "enqueue"\ntiers:\n- plugins: [{name: gang}]\n')

    shown = posse.on("simulate", [node("n1"), job("train", 2)], "--compare", idle).stdout
    record = json.loads(posse.on("simulate", [node("n1"), job("train", 2)], "--compare", idle, "-o", "json").stdout)

    assert "train  default  at 0s     never     running  waiting  does not start" in shown
    assert [run["started"] for run in record["runs"]] == [1, 0]


def test_the_same_configuration_decides_the_same(posse: Posse) -> None:
    same = str(posse.folder / "scheduler.conf")

    assert "Both decide the same." in posse.on("simulate", CLUSTER, "--compare", same).stdout
