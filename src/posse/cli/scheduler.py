"""`posse scheduler`: schedule a cluster, in it or from outside."""

import asyncio
import os
import platform
import signal
import sys

import click

from posse.cli.flags import compatibility_flag, text_of
from posse.cli.progress import Progress
from posse.cli.reaching import access_to, cluster_flags, told_plainly
from posse.cli.running import warm_up
from posse.errors import InputError, Place
from posse.kube.api.access import Access
from posse.live.service import Service, ServiceOptions
from posse.scheduler.configuration import DEFAULT_CONF, Configuration, load, packages_named_in
from posse.scheduler.registry import Registry, installed
from posse.scheduler.switches import Side

RIGHTS = "a user with the rights that `deploy/rbac.yaml` gives a scheduler"


@click.command
@cluster_flags
@click.option("--config", metavar="FILE", help="The scheduler's configuration. [default: `posse config default`]")
@compatibility_flag
@click.option(
    "--scheduler-names", default="posse", show_default=True, metavar="A,B", help="Whose pods: their schedulerName."
)
@click.option("--dry-run", is_flag=True, help="Decide and report, and change nothing.")
@click.option("--lease", default="kube-system/posse", show_default=True, metavar="NAMESPACE/NAME", help="Who leads.")
@click.option("--no-lease", is_flag=True, help="There is no other scheduler of this name.")
def command(
    *,
    kubeconfig: str,
    context: str,
    config: str | None,
    compatibility: Side | None,
    scheduler_names: str,
    dry_run: bool,
    lease: str,
    no_lease: bool,
) -> None:
    """Schedule a cluster: gangs are bound whole or not at all.

    Pods are ours that name us (`schedulerName: posse`); those of other schedulers are left alone. Ctrl-C or SIGTERM
    ends it in good order.
    """
    access = access_to(kubeconfig, context)
    configuration, registry = _configured(config, compatibility)
    namespace, slash, name = lease.partition("/")
    if not slash or not namespace or not name:
        raise InputError(f"{lease!r} names no lease", place=Place(field="--lease"), accepted="namespace/name")
    names = tuple(sorted({each.strip() for each in scheduler_names.split(",") if each.strip()}))
    if not names:
        raise InputError("names no scheduler", place=Place(field="--scheduler-names"), accepted="names between commas")
    options = ServiceOptions(
        scheduler_names=names,
        dry_run=dry_run,
        lease_namespace=namespace,
        lease_name=name,
        identity=f"{platform.node()}-{os.getpid()}-{os.urandom(4).hex()}",
        elects=not no_lease,
    )
    with Progress() as progress:
        warm_up(progress)
    for warning in configuration.warnings:
        _tell(f"Warning: {warning}")
    with told_plainly(access, RIGHTS):
        asyncio.run(_serve(access, configuration, registry, options))


def _configured(path: str | None, mode: Side | None) -> tuple[Configuration, Registry]:
    text = DEFAULT_CONF if path is None else text_of(path)
    file = path or ""
    registry = installed(packages_named_in(text, file=file), beside=file)
    specs, actions = registry.plugin_specs(), registry.action_specs()
    return load(text, registry=specs, actions=actions, file=file, mode=mode), registry


async def _serve(access: Access, configuration: Configuration, registry: Registry, options: ServiceOptions) -> None:
    service = Service(access, configuration, registry, options, _tell)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.end)
    try:
        await service.run()
    except BaseExceptionGroup as group:
        raise _first(group) from group


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The fault that ended everything."""
    fault: BaseException = group
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a line of the log
