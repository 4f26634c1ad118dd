"""Volcano Jobs: the PodGroup and the pods that their controller would make."""

from collections.abc import Iterable, Mapping

from posse.kube.meta import Metadata, OwnerReference
from posse.kube.objects import PodGroup, PodGroupSpec, SubGroupPolicy
from posse.kube.meta import LabelSelector
from posse.kube.pods import Pod
from posse.kube.quantity import Quantity, format_amounts, in_order
from posse.kube.requests import Totals, sum_of
from posse.kube.workloads import VolcanoJob, VolcanoTask
from posse.simulation.standing import quota_usage
from posse.simulation.templates import controller_reference, pod_from

GROUP_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
TASK_INDEX = "volcano.sh/task-index"
JOB_NAME = "volcano.sh/job-name"
JOB_NAMESPACE = "volcano.sh/job-namespace"
JOB_VERSION = "volcano.sh/job-version"
JOB_RETRY_COUNT = "volcano.sh/job-retry-count"
QUEUE_NAME = "volcano.sh/queue-name"
TEMPLATE = "volcano.sh/template-uid"
PARTITION = "volcano.sh/partition-id"
NUMA_POLICY = "volcano.sh/numa-topology-policy"

_PASSED_ON = (
    "volcano.sh/preemptable",
    "volcano.sh/cooldown-time",
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)
"""Annotations of a job that its pods get too."""
_LABELS_PASSED_ON = _PASSED_ON[:2]

_ENDED = ("Completed", "Failed", "Terminated", "Aborted", "Completing", "Terminating", "Aborting")
