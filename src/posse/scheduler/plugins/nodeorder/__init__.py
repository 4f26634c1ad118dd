"""Node order: which of the nodes a pod may go to is best, by Kubernetes' own scores."""
