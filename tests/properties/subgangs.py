"""Made-up clusters in which gangs fall into sub-gangs."""

from random import Random

from msgspec import structs

from posse.cluster.facts import Fact, GangFact, SubgroupPolicy, TaskFact


def with_subgangs(facts: list[Fact], random: Random) -> list[Fact]:
    """Some gangs fall into sub-gangs by the label `part`."""
    divided: dict[str, SubgroupPolicy] = {}
    for fact in facts:
        if isinstance(fact, GangFact) and random.random() < 0.5:
            policy = SubgroupPolicy(
                name="parts", size=random.randint(1, 2), min_groups=random.randint(0, 2), match_keys=("part",)
            )
            divided[fact.key] = policy
    result: list[Fact] = []
    for fact in facts:
        if isinstance(fact, GangFact) and fact.key in divided:
            result.append(structs.replace(fact, subgroups=(divided[fact.key],)))
        elif isinstance(fact, TaskFact) and fact.gang in divided and random.random() < 0.9:
            result.append(structs.replace(fact, labels={**fact.labels, "part": str(random.randint(0, 2))}))
        else:
            result.append(fact)
    return result
