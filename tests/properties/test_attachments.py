"""Who follows what comes and goes counts the same volumes on each node as who looks at everything."""

from random import Random

import numpy as np
from hypothesis import given

from posse.cluster.facts import Gone
from posse.cluster.storage_facts import AttachLimitsFact, StorageClassFact
from posse.cluster.world import World
from posse.scheduler.volumes.attaching import Attachments
from tests.builders import node, task
from tests.properties.effort import tried
from tests.scheduler.volumes import claim, claims, volume
from tests.worlds.strategies import seeds

NODES, CLAIMS, HANDLES = ("n0", "n1", "n2"), ("c0", "c1", "c2", "c3"), ("h0", "h1", "h2")
DRIVERS = ("ebs", "nfs")


class History:
    """A world in which pods come and go, and claims get their volumes."""

    def __init__(self, seed: int) -> None:
        self.random, self.world = Random(seed), World()
        limits = [AttachLimitsFact(node=name, limits=(("ebs", 1),)) for name in NODES[:2]]
        self.world.observe([*map(node, NODES), StorageClassFact(name="made", provisioner="ebs", waits=True), *limits])

    def step(self) -> None:
        """Let one thing happen."""
        random = self.random
        match random.choice(("pod", "pod", "pod", "gone", "claim", "volume", "log")):
            case "pod":
                uses = claims(*random.sample(CLAIMS, random.randint(0, 2)))
                told = task(f"p{random.randint(0, 5)}", on=random.choice(NODES), shape=uses, terminating=False)
                self.world.observe([told])
            case "gone":
                self.world.observe([Gone(kind="task", key=f"default/p{random.randint(0, 5)}")])
            case "claim":
                has = random.choice(("", "v0", "v1", "v2"))
                self.world.observe([claim(random.choice(CLAIMS), of=random.choice(("made", "")), has=has)])
            case "volume":
                driver = random.choice(("", *DRIVERS))
                self.world.observe([volume(f"v{random.randint(0, 2)}", driver=driver, handle=random.choice(HANDLES))])
            case "log":
                self.world.columns.reserve_logs(1 << 16)

    def attached(self, name: str, driver: str) -> set[str]:
        """The volumes of a driver on a node, by looking at everything."""
        storage, found = self.world.storage, set()
        for row in self.world.tasks.declared():
            fact = self.world.tasks.facts[row]
            for reference in fact.shape.claims if fact is not None and fact.node == name else ():
                of = storage.claims.get(reference.name)
                has = storage.volumes.get(of.volume) if of is not None else None
                if has is not None and has.driver == driver:
                    found.add(has.handle)
                elif has is None and of is not None and of.storage_class == "made" and driver == "ebs":
                    found.add(f"claim {of.key}")
        return found


@tried(200)
@given(seed=seeds)
def test_what_is_followed_is_what_is_there(seed: int) -> None:
    history = History(seed)
    following, limits = Attachments(history.world), {"n0": 1, "n1": 1}
    for _ in range(15):
        history.step()
        for driver in DRIVERS:
            new = set(history.random.sample(HANDLES, history.random.randint(0, 2)))
            full = following.full(driver, new)
            for name in NODES:
                there = history.attached(name, driver)
                limit = limits.get(name, 99) if driver == "ebs" else 99
                assert bool(full[history.world.nodes.find(name)]) == bool(new - there and len(there | new) > limit)
            assert np.array_equal(full, Attachments(history.world).full(driver, new))
        used = {
            reference.name
            for row in history.world.tasks.declared()
            if (fact := history.world.tasks.facts[row]) is not None and fact.node
            for reference in fact.shape.claims
        }
        assert {name for name in CLAIMS if following.is_used(f"default/{name}")} == {
            name for name in CLAIMS if f"default/{name}" in used
        }
