"""A small cluster in which everybody does right, at random; and how to do each wrong.

The scheduler binds gangs whole, or half and the rest in time, or half and takes them back in time; others bind where
there is room; nodes come, are cordoned, and serve again; pods end, and are deleted when the test asks for it; the
server goes away for long, whenever it likes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from random import Random

from tests.cluster.checker.events import Kind, Type
from tests.cluster.checker.report import Rule
from tests.cluster.checker.tape import Tape

REPAIR = 2.0
EXPLAIN = 10.0
CPUS, PODS = 4, 10


class Model:
    """Makes a legal history, step by step."""

    def __init__(self, random: Random) -> None:
        self.tape = Tape()
        self._random = random
        self._count = 0
        self._cordoned: dict[str, bool] = {}
        self._used: Counter[str] = Counter()
        self._lying: Counter[str] = Counter()
        self._places: dict[str, tuple[str, int]] = {}
        self._waiting: dict[str, tuple[list[str], int, int]] = {}
        for _ in range(3):
            self.new_node()

    def step(self) -> None:
        """Let something happen that may happen."""
        ours = self.new_gang, self.new_gang, self.start, self.start, self.give_up
        theirs = self.new_node, self.cordon, self.end, self.remove, self.stranger, self.outage, self.rest
        self._random.choice((*ours, *theirs))()

    def fresh(self, kind: str) -> str:
        """Give a name that nobody had."""
        self._count += 1
        return f"{kind}{self._count}"

    def new_node(self) -> None:
        """Add a node."""
        self._cordoned[self.own_node()] = False

    def own_node(self) -> str:
        """Add a node on which nobody else puts anything."""
        name = self.fresh("node")
        self.tape.node(name, cpu=str(CPUS))
        return name

    def cordon(self) -> None:
        """Cordon a node, or take that back."""
        name = self._random.choice(list(self._cordoned))
        self._cordoned[name] = not self._cordoned[name]
        self.tape.node(name, cpu=str(CPUS), unschedulable=self._cordoned[name])

    def new_gang(self) -> None:
        """Add a gang, or a pod for itself. Both say at once why they wait."""
        name, cpu = self.fresh("gang"), self._random.randint(0, 2)
        pods = [f"{name}-{number}" for number in range(self._random.randint(1, 4))]
        minimum = self._random.randint(1, len(pods))
        self._waiting[name] = pods, minimum, cpu
        if len(pods) > 1:
            self.tape.gang(name, minimum, *pods, cpu=str(cpu))
        else:
            self.tape.pod(pods[0], cpu=str(cpu))
        for pod in pods:
            self.tape.explain(pod)

    def start(self) -> None:
        """Bind a gang whole, though not at once."""
        for name, (pods, minimum, cpu) in self.first():
            if len(pods) >= minimum and (places := self.room(len(pods), cpu)):
                del self._waiting[name]
                for pod, place in zip(pods, places, strict=True):
                    self.lay(pod, place, cpu)
                    self.tape.wait(self._random.random() * REPAIR / 5)

    def give_up(self) -> None:
        """Bind a part of a gang, and take it back."""
        for _, (pods, minimum, cpu) in self.first():
            if minimum > 1 and pods and (places := self.room(1, cpu)):
                self.lay(pods[0], places[0], cpu)
                if self._random.random() < 0.5:
                    self.outage()
                self.tape.wait(self._random.random() * REPAIR * 0.9)
                again = pods.pop(0)
                self.take(again)
                self._random.choice((self.tape.leave, lambda _: None))(again)
                self.tape.delete(again)

    def first(self) -> list[tuple[str, tuple[list[str], int, int]]]:
        """Give one of those that wait, if any do: its name, its pods, its minimum, and what a pod takes."""
        waiting = list(self._waiting.items())
        return [self._random.choice(waiting)] if waiting else []

    def end(self) -> None:
        """Let a pod end."""
        if self._places:
            pod = self._random.choice(list(self._places))
            self.take(pod)
            self.tape.change(pod, status={"phase": self._random.choice(("Succeeded", "Failed"))})

    def remove(self) -> None:
        """Delete a pod, as the test asked."""
        if self._places:
            pod = self._random.choice(list(self._places))
            self.take(pod)
            self.tape.mark(Type.ASKED, name=f"team/{pod}")
            self.tape.delete(pod)

    def stranger(self) -> None:
        """Let somebody else bind a pod, wherever there is room, cordoned or not."""
        pod, node = self.fresh("other"), self._random.choice(list(self._cordoned))
        self.tape.pod(pod, scheduler="other", cpu="1")
        if self._used[node] < CPUS and self._lying[node] < PODS:
            self.lay(pod, node, 1)

    def outage(self) -> None:
        """Let the server be away for longer than anything may last."""
        self.tape.mark(Type.LOST, kind=Kind.POD)
        self.tape.wait(60)
        self.tape.mark(Type.BACK, kind=Kind.POD)

    def rest(self) -> None:
        """Let time pass."""
        self.tape.wait(self._random.random() * 20)

    def room(self, pods: int, cpu: int) -> list[str]:
        """Find nodes for so many pods, or none."""
        used, lying, found = self._used.copy(), self._lying.copy(), []
        open_ = [name for name, cordoned in self._cordoned.items() if not cordoned]
        for _ in range(pods):
            self._random.shuffle(open_)
            for name in open_:
                if used[name] + cpu <= CPUS and lying[name] < PODS:
                    used[name] += cpu
                    lying[name] += 1
                    found.append(name)
                    break
        return found if len(found) == pods else []

    def lay(self, pod: str, node: str, cpu: int) -> None:
        """Bind a pod."""
        self._places[pod] = node, cpu
        self._used[node] += cpu
        self._lying[node] += 1
        self.tape.bind(pod, node)

    def take(self, pod: str) -> None:
        """Let go of the room of a pod."""
        node, cpu = self._places.pop(pod)
        self._used[node] -= cpu
        self._lying[node] -= 1


def twice(model: Model) -> Collection[str]:
    """Bind a pod to one node and then to another."""
    pod = model.fresh("wrong")
    model.tape.pod(pod)
    model.tape.bind(pod, model.own_node())
    model.tape.bind(pod, model.own_node())
    return ()


def nowhere(model: Model) -> Collection[str]:
    """Bind a pod to a node that is not there."""
    pod = model.fresh("wrong")
    model.tape.pod(pod)
    model.tape.bind(pod, model.fresh("node"))
    return ()


def astray(model: Model) -> Collection[str]:
    """Bind a pod where it does not want to be."""
    pod = model.fresh("wrong")
    model.tape.pod(pod, nodeSelector={"pool": "none"})
    model.tape.bind(pod, model.own_node())
    return ()


def too_much(model: Model) -> Collection[str]:
    """Give a node more than it has."""
    pod = model.fresh("wrong")
    model.tape.pod(pod, cpu=str(CPUS + 1))
    model.tape.bind(pod, model.own_node())
    return ()


def too_early(model: Model) -> Collection[str]:
    """Bind a pod that is gated."""
    pod = model.fresh("wrong")
    model.tape.pod(pod, schedulingGates=[{"name": "wait"}])
    model.tape.bind(pod, model.own_node())
    return ()


def half(model: Model) -> Collection[str]:
    """Leave a gang half bound for a little too long."""
    gang = model.fresh("wrong")
    model.tape.gang(gang, 2, f"{gang}-1", f"{gang}-2")
    model.tape.bind(f"{gang}-1", model.own_node())
    model.tape.wait(REPAIR * 1.01)
    model.tape.bind(f"{gang}-2", model.own_node())
    return ()


def not_at_all(model: Model) -> Collection[str]:
    """Leave something that should start where it is."""
    pod = model.fresh("wrong")
    model.tape.pod(pod)
    model.tape.explain(pod)
    return (f"team/{pod}",)


def silent(model: Model) -> Collection[str]:
    """Leave a pod without a word."""
    model.tape.pod(model.fresh("wrong"))
    model.tape.wait(EXPLAIN * 1.01)
    return ()


def away(model: Model) -> Collection[str]:
    """Take away a pod that runs."""
    pod = model.fresh("wrong")
    model.tape.pod(pod)
    model.tape.bind(pod, model.own_node())
    model.tape.leave(pod)
    return ()


WRONGS: Mapping[Callable[[Model], Collection[str]], Rule] = {
    twice: Rule.BOUND_TWICE,
    nowhere: Rule.MISPLACED,
    astray: Rule.MISPLACED,
    too_much: Rule.OVERCOMMITTED,
    too_early: Rule.GATED,
    half: Rule.HALF_BOUND,
    not_at_all: Rule.NOT_STARTED,
    silent: Rule.UNEXPLAINED,
    away: Rule.EVICTED,
}
"""What can be done wrong, each with the rule that it breaks. It gives the names of what should have started."""
