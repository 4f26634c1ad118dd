"""Nodes take only so many volumes of a driver, and some volumes only one pod."""

from posse.cluster.facts import Gone, Observation
from posse.cluster.storage_facts import AttachLimitsFact, VolumeClaimFact
from tests.builders import cycle, gang
from tests.scheduler.volumes import MADE, N1, claim, nodes_of, pod, scheduler, volume


def attached(name: str, handle: str) -> Observation:
    return volume(name, driver="ebs", handle=handle, is_available=False)


def test_a_node_takes_no_more_volumes_of_a_driver_than_it_can_bear() -> None:
    running = scheduler(
        N1,
        AttachLimitsFact(node="n1", limits=(("ebs", 2),)),
        *(attached(f"v{n}", f"h{n}") for n in range(3)),
        *(claim(f"c{n}", has=f"v{n}") for n in range(3)),
        gang("a"),
        *(pod(f"p{n}", "a", f"c{n}") for n in range(3)),
    )
    result = cycle(running)

    assert sorted(nodes_of(result)) == ["p0", "p1"]
    (verdict,) = result.verdicts
    assert [each.message for each in verdict.pods if each.pod.endswith("p2")] == [
        "0/1 nodes are unavailable: 1 too many volumes of ebs."
    ]


def test_a_volume_that_is_attached_already_is_not_counted_twice() -> None:
    running = scheduler(
        N1,
        AttachLimitsFact(node="n1", limits=(("ebs", 1),)),
        attached("v1", "h"),
        attached("v2", "h"),
        claim("c1", has="v1"),
        claim("c2", has="v2"),
        pod("there", "", "c1", on="n1"),
        gang("a", min=2),
        pod("same-claim", "a", "c1"),
        pod("same-volume", "a", "c2"),
    )

    assert sorted(nodes_of(cycle(running))) == ["same-claim", "same-volume"]


def test_a_volume_that_is_to_be_made_counts_and_is_one_when_it_is_there() -> None:
    limits = AttachLimitsFact(node="n1", limits=(("ebs", 1),))
    running = scheduler(
        N1, MADE, limits, claim("c1", of="made"), claim("c2", of="made"), gang("a"), pod("p1", "a", "c1")
    )
    assert nodes_of(cycle(running)) == {"p1": "n1"}

    assert nodes_of(cycle(running, gang("b"), pod("p2", "b", "c2"), now=1)) == {}
    there = (claim("c1", of="made", has="v1"), attached("v1", "h1"))
    assert nodes_of(cycle(running, *there, now=2)) == {}
    assert nodes_of(cycle(running, Gone(kind="task", key="default/p1"), now=3)) == {"p2": "n1"}


def test_a_volume_for_a_single_pod_is_not_for_two() -> None:
    single: VolumeClaimFact = claim("data", has="v", modes=("ReadWriteOncePod",))
    running = scheduler(N1, single, volume("v"), gang("a"), pod("p", "a", "data"), gang("b"), pod("q", "b", "data"))
    result = cycle(running)
    waiting = next(each for verdict in result.verdicts for each in verdict.pods)

    assert nodes_of(result) == {"p": "n1"}
    assert waiting.message == "0/1 nodes are unavailable: 1 volume claim default/data is used by another pod."
