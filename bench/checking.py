"""Checking: on a small size the engine must decide what the plain reference decides, or its speed means nothing."""

from bench.timing import engine
from bench.worlds import mixed, nodes
from posse.cluster.columns import tie_rank
from posse.cluster.facts import Fact
from posse.cluster.records import Bind, CycleInput
from posse.cluster.world import World
from tests.reference.cluster import Cluster
from tests.reference.cycle import Policy, run_cycle
from tests.reference.placement import Chooser
from tests.reference.quirks import Quirks

PODS, NODES = 200, 12


def check_against_reference() -> str:
    """Decide a small mixed world twice. Raise if the answers differ."""
    facts: list[Fact] = [*nodes(NODES, tainted_every=4), *mixed(PODS, seed=7)]
    world = World()
    world.observe(facts)
    result = engine(world).cycle(CycleInput(now=0))
    binds = {effect.pod: effect.node for effect in result.effects if isinstance(effect, Bind)}
    cluster = Cluster.of(facts)
    outcome = run_cycle(
        cluster, Chooser(lambda name: tie_rank(0, name)), Policy(quirks=Quirks(role_memory=True)), "ready-first"
    )
    if binds != outcome.binds:
        different = sorted(pod for pod in {*binds, *outcome.binds} if binds.get(pod) != outcome.binds.get(pod))
        raise SystemExit(f"the engine and the plain reference differ on {len(different)} pods, {different[0]} first")
    return f"Checked: the plain reference binds the same {len(binds)} of a mixed world's {PODS} pods, and where."
