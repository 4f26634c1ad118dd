"""Whatever the API refuses: no gang that never had its minimum stays bound in part for longer than the repair time."""

from collections import Counter
from random import Random

from hypothesis import given

from posse.cluster.facts import Fact, GangFact
from posse.cluster.records import Evict
from tests.builders import crew, gang, node
from tests.properties.effort import tried
from tests.properties.lives import SECOND, Life, usual_conf
from tests.worlds.strategies import seeds

CYCLES = 45
REPAIR_TIME = 10 * SECOND
LATE = 2 * SECOND
"""A cycle until it is known that a bind failed, and one more until somebody has to go."""


class Halves:
    """Which gangs are bound in part, and since when; those left out that ever had their minimum."""

    def __init__(self, life: Life, gangs: list[GangFact]) -> None:
        self._life, self._gangs = life, {fact.key: fact for fact in gangs}
        self._since: dict[str, int] = {}

    def look(self, evicted: set[str]) -> None:
        """Look at all pods as the API has them. The clock of a gang that was told to let go begins anew."""
        with_node = Counter(pod.gang for pod in self._life.pods.values() if pod.node)
        staying = Counter(pod.gang for pod in self._life.pods.values() if pod.node and not pod.terminating)
        for key, fact in list(self._gangs.items()):
            if with_node[key] >= fact.min_member:
                del self._gangs[key]
            elif not staying[key] or key in evicted:
                self._since.pop(key, None)
            else:
                since = self._since.setdefault(key, self._life.now)
                assert self._life.now - since <= REPAIR_TIME + LATE, (key, since, self._life.now)


def gangs_with_bad_luck(seed: int) -> tuple[list[Fact], set[str]]:
    """Gangs that need all of their members, and pods among them that no API server will ever bind."""
    random = Random(seed)
    facts: list[Fact] = [node(f"n{number}", cpu=random.choice((4, 8))) for number in range(4)]
    unlucky = set()
    for number in range(random.randint(2, 10)):
        size, name = random.randint(2, 5), f"g{number}"
        facts += [gang(name, min=size, created=number), *crew(name, size, cpu=random.choice((0.5, 1)))]
        if random.random() < 0.5:
            unlucky.add(f"default/{name}-worker-{random.randrange(size)}")
    return facts, unlucky


@tried(60)
@given(seed=seeds)
def test_no_gang_stays_bound_in_part(seed: int) -> None:
    facts, unlucky = gangs_with_bad_luck(seed)
    life = Life(facts, seed, usual_conf(), kind=True)
    life.cursed = unlucky
    halves = Halves(life, [fact for fact in facts if isinstance(fact, GangFact)])
    for _ in range(CYCLES):
        result = life.cycle()
        halves.look({effect.by for effect in result.effects if isinstance(effect, Evict)})
    assert all(pod.node for pod in life.pods.values() if pod.gang not in {life.pods[key].gang for key in unlucky})
