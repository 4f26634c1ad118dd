"""Crowded clusters: few nodes, and many gangs most of which are like each other."""

from random import Random

from posse.cluster.facts import Fact
from tests.builders import amounts, crew, gang, node, queue, task


def crowded_world(seed: int) -> list[Fact]:
    """Few nodes and many gangs, most of which are like each other."""
    random = Random(seed)
    facts: list[Fact] = [queue("default"), queue("second", weight=2, capability=amounts(cpu=random.choice((3, 8))))]
    facts += [
        node(f"n{number}", cpu=random.choice((2, 3, 4)), memory=random.choice((4, 8)), pods=9) for number in range(6)
    ]
    facts += [
        task(f"old-{n}", on=f"n{n}", cpu=1, terminating=random.random() < 0.7)
        for n in range(6)
        if random.random() < 0.5
    ]
    kinds = [(random.choice((1, 2, 2, 3)), random.choice((0.5, 1, 1, 2))) for _ in range(3)]
    second = random.choice((0.0, 0.0, 0.3))
    by_role, led = random.choice((0.0, 0.5, 1.0)), random.choice((0.0, 0.0, 0.5))
    for number in range(random.randint(4, 24)):
        size, cpu = random.choice(kinds)
        name, minimum = f"g{number:02}", size if random.random() < 0.8 else random.randint(1, size)
        facts.append(
            gang(
                name,
                min=minimum,
                created=random.randint(0, 5),
                queue="second" if random.random() < second else "default",
                min_resources=amounts(cpu=cpu * minimum) if random.random() < 0.5 else None,
                min_roles=(("worker", random.randint(1, size)),) if random.random() < by_role else (),
            )
        )
        facts += crew(name, size, cpu=cpu, role="worker")
        if random.random() < led:
            facts.append(task(f"{name}-leader", name, cpu=random.choice((0, 0.5, 3)), role="leader"))
    return facts
