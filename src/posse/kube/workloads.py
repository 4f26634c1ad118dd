"""Workloads: the objects whose controllers make pods, as far as their pods depend on them."""

from typing import Annotated, ClassVar

from msgspec import Meta as Bounds

from posse.kube.meta import Int32, KubeObject, LabelSelector, Metadata, Part
from posse.kube.pods import Condition, PodSpec

MOST_PODS = 1_000_000
Count = Annotated[int, Bounds(ge=0, le=MOST_PODS)]
"""How many pods: bounded, so that a slip of the finger is an error and not a full memory."""


class PodTemplate(Part, frozen=True):
    """What a workload's pods look like."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


class ReplicatedSpec(Part, frozen=True):
    """A number of equal pods. Deployment and ReplicaSet say no more that matters here."""

    replicas: Count = 1
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class Deployment(KubeObject, frozen=True):
    """Equal pods, by way of a ReplicaSet."""

    API_VERSION: ClassVar[str] = "apps/v1"
    KIND: ClassVar[str] = "Deployment"

    spec: ReplicatedSpec = ReplicatedSpec()


class ReplicaSet(KubeObject, frozen=True):
    """Equal pods."""

    API_VERSION: ClassVar[str] = "apps/v1"
    KIND: ClassVar[str] = "ReplicaSet"

    spec: ReplicatedSpec = ReplicatedSpec()


class Ordinals(Part, frozen=True):
    """Where the numbering of a StatefulSet's pods starts."""

    start: Int32 = 0


class StatefulSetSpec(Part, frozen=True):
    """A number of pods that keep their names."""

    replicas: Count = 1
    ordinals: Ordinals = Ordinals()
    template: PodTemplate = PodTemplate()


class StatefulSet(KubeObject, frozen=True):
    """Pods that keep their names."""

    API_VERSION: ClassVar[str] = "apps/v1"
    KIND: ClassVar[str] = "StatefulSet"

    spec: StatefulSetSpec = StatefulSetSpec()


class DaemonSetSpec(Part, frozen=True):
    """A pod on every node that suits it."""

    template: PodTemplate = PodTemplate()


class DaemonSet(KubeObject, frozen=True):
    """A pod on every node that suits it."""

    API_VERSION: ClassVar[str] = "apps/v1"
    KIND: ClassVar[str] = "DaemonSet"

    spec: DaemonSetSpec = DaemonSetSpec()


class JobSpec(Part, frozen=True):
    """Pods that end. Without `completions` any of them may end the job."""

    parallelism: Count | None = None
    completions: Count | None = None
    completion_mode: str = ""
    backoff_limit: Annotated[int, Bounds(ge=0, le=2**31 - 1)] = 6
    suspend: bool = False
    template: PodTemplate = PodTemplate()


class JobStatus(Part, frozen=True):
    """How a Job stands."""

    conditions: tuple[Condition, ...] = ()


class Job(KubeObject, frozen=True):
    """Pods that end."""

    API_VERSION: ClassVar[str] = "batch/v1"
    KIND: ClassVar[str] = "Job"

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class CronJob(KubeObject, frozen=True):
    """Jobs by the calendar."""

    API_VERSION: ClassVar[str] = "batch/v1"
    KIND: ClassVar[str] = "CronJob"


class NetworkTopology(Part, frozen=True):
    """How near to each other, in the network, pods must (hard) or should (soft) be."""

    mode: str = "hard"
    highest_tier_allowed: Int32 | None = None
    highest_tier_name: str = ""


class PartitionPolicy(Part, frozen=True):
    """How a task's pods fall into partitions."""

    total_partitions: Int32 = 0
    partition_size: Int32 = 0
    min_partitions: Int32 = 0
    network_topology: NetworkTopology | None = None


class VolcanoTask(Part, frozen=True):
    """One role of a Volcano Job."""

    name: str = ""
    replicas: Count = 0
    min_available: Int32 | None = None
    template: PodTemplate = PodTemplate()
    partition_policy: PartitionPolicy | None = None
    topology_policy: str = ""


class VolcanoJobSpec(Part, frozen=True):
    """The roles of a Volcano Job, and how it competes."""

    scheduler_name: str = ""
    min_available: Int32 = 0
    queue: str = ""
    priority_class_name: str = ""
    tasks: tuple[VolcanoTask, ...] = ()
    network_topology: NetworkTopology | None = None


class VolcanoJobState(Part, frozen=True):
    """Where a Volcano Job is in its life."""

    phase: str = ""


class VolcanoJobStatus(Part, frozen=True):
    """Which run of the job this is, and how it stands."""

    state: VolcanoJobState = VolcanoJobState()
    version: Int32 = 0
    retry_count: Int32 = 0


class VolcanoJob(KubeObject, frozen=True):
    """A gang of several roles, as Volcano declares it."""

    API_VERSION: ClassVar[str] = "batch.volcano.sh/v1alpha1"
    KIND: ClassVar[str] = "Job"

    spec: VolcanoJobSpec = VolcanoJobSpec()
    status: VolcanoJobStatus = VolcanoJobStatus()


Workload = CronJob | DaemonSet | Deployment | Job | ReplicaSet | StatefulSet | VolcanoJob
"""Everything that makes pods."""
