"""Trials are copies: whatever is done in them, the run that they were taken from stands as it stood."""

from posse.errors import Place
from posse.kube.manifests import from_values
from posse.simulation.run import Run
from posse.simulation.scenario import Options, Scenario
from posse.simulation.situation import SimulatedSituation
from posse.whatif.explanation import Change, Reference
from tests.whatif.pictures import gang, node, pod


def finished(*manifests) -> Run:
    run = Run(Scenario(tuple(from_values(manifests, Place())), options=Options()))
    run.to_the_end()
    return run


def portrait(run: Run):
    world = run.engine.world
    ledger = world.columns.ledger
    return (
        [
            (world.tasks.keys[row], int(ledger.task_status[row]), int(ledger.task_node[row]))
            for row in world.tasks.rows()
        ],
        ledger.node_used.tolist(),
        sorted(run.cluster.objects),
        run.now,
        run.engine.cycles,
    )


def test_a_trial_leaves_the_run_alone():
    run = finished(node("n1"), pod("x", cpu=4, on="n1"), *gang("a", 2, 2, cpu=3))
    before = portrait(run)
    situation = SimulatedSituation(run)

    trial = situation.trial(Change((node("n2"), node("n3")), (Reference("Pod", "default", "x"),)))

    assert trial.starts("default/a")
    trial.close()
    assert portrait(run) == before


def test_the_room_of_a_copy_that_is_given_up_is_used_again_without_a_trace():
    situation = SimulatedSituation(finished(node("n1"), *gang("a", 2, 2, cpu=3)))

    found = []
    for change in (Change((node("n2"),)), Change(), Change((node("n2"),))):
        trial = situation.trial(change)
        found.append(trial.starts("default/a"))
        trial.close()

    assert found == [True, False, True]


def test_a_trial_takes_in_its_change_before_any_cycle():
    trial = SimulatedSituation(finished(node("n1"))).trial(Change((node("n2"),)))

    assert "n2" in trial.engine.world.nodes


def test_a_manifest_is_found_as_it_was_given():
    made = node("n1")
    made["spec"]["podCIDR"] = "10.0.0.0/24"

    assert SimulatedSituation(finished(made)).find("Node", "", "n1") == made


def test_what_nobody_gave_is_found_as_it_stands():
    found = SimulatedSituation(finished()).find("Queue", "", "default")

    assert found is not None
    assert (found["kind"], found["metadata"]["name"]) == ("Queue", "default")


def test_a_trial_says_who_else_started():
    objects = [node("n1"), *gang("a", 1, 1, cpu=3), *gang("b", 1, 1, cpu=3), *gang("c", 1, 1, cpu=30)]
    trial = SimulatedSituation(finished(*objects)).trial(Change((node("n2"), node("n3"))))

    assert not trial.starts("default/c")
    assert set(trial.started) == {"default/b"}
    assert trial.is_over
