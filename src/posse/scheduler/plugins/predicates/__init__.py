"""Predicates: which nodes a pod may go to, by Kubernetes' own rules."""
