"""`posse install`: what a cluster needs before gangs can be written down in it."""

import asyncio

import click

from posse.cli.reaching import access_to, cluster_flags, told_plainly
from posse.kube.api.access import Access
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from posse.kube.crds.definitions import as_manifests, definitions
from posse.kube.crds.installing import install

RIGHTS = (
    "a user who may get, create and patch customresourcedefinitions; or such a user applies what"
    " `posse install crds --print` prints"
)
NEXT = """
Queues and PodGroups can be created now; gangs that name no queue stand in the queue "default".
  kubectl get queues
  kubectl get podgroups -A"""

BRIEFLY = Backoff(attempts=3)
"""Somebody sits and waits."""


@click.command
@click.argument("what", type=click.Choice(["crds"]))
@cluster_flags
@click.option("--dry-run", is_flag=True, help="Only say what would be done; the server tries it.")
@click.option("--print", "prints", is_flag=True, help="Print the manifests, for `kubectl apply -f -`.")
def command(what: str, *, kubeconfig: str, context: str, dry_run: bool, prints: bool) -> None:
    """Install the kinds that gangs are written in: Volcano's PodGroup, Queue, Job, HyperNode and Command.

    What is missing is created. Definitions that Volcano has installed are good enough and left alone.
    """
    del what  # there is one thing so far
    if prints:
        click.echo(as_manifests(), nl=False)
        return
    access = access_to(kubeconfig, context)
    with told_plainly(access, RIGHTS):
        asyncio.run(_install(access, dry_run=dry_run))
    if not dry_run:
        click.echo(NEXT)


async def _install(access: Access, *, dry_run: bool) -> None:
    """Install all, and say of each what became of it."""
    wanted = definitions()
    width = max(len(definition.name) for definition in wanted)
    async with ApiClient(access, backoff=BRIEFLY) as client:
        async for definition, result in install(client, wanted, dry_run=dry_run):
            click.echo(f"{definition.name:<{width}}  {result}")
