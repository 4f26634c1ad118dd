"""Plain: a pod that belongs to nothing is a gang of one. It asks no queue to be admitted."""

from posse.cluster.facts import GangFact, Rules, TaskFact

DIALECT = "plain"
DEFAULT_QUEUE = "default"

RULES = Rules(gated_by_queue=False)


def key_of(namespace: str, name: str) -> str:
    """The key of the gang of a lone pod. No object can be called so."""
    return f"{namespace}/{name} (plain)"


def gang_of_one(task: TaskFact, dialect: str = DIALECT, queue: str = DEFAULT_QUEUE) -> GangFact:
    """The gang of a lone pod: as old, as urgent and as preemptable as the pod."""
    return GangFact(
        key=key_of(task.namespace, task.name),
        namespace=task.namespace,
        name=task.name,
        uid=task.uid,
        created=task.created,
        dialect=dialect,
        queue=queue,
        priority_class=task.priority_class,
        preemptable=task.preemptable,
        labels=task.labels,
        annotations=task.annotations,
        rules=RULES,
    )
