"""Volcano's kinds for an API server that does not know them: definitions, one file per kind, and their installation.

Names and fields are those that Volcano's users write; what Volcano accepts is accepted. Two things differ. A PodGroup
has a status subresource, so that whoever may create one cannot say that it runs. And what a pod may be is not repeated
in a Job's template: the API server says so when the pod is made.
"""
