"""`posse scheduler`: schedule a cluster, in it or from outside."""

import asyncio
import os
import platform
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import click
from click.core import ParameterSource

from posse import __version__
from posse.cli.edge import BAD_INPUT, OUR_FAULT
from posse.cli.flags import compatibility_flag, text_of
from posse.cli.progress import Progress
from posse.cli.reaching import access_to, cluster_flags, told_plainly
from posse.cli.running import warm_up
from posse.errors import InputError, Place
from posse.kube.api.access import Access
from posse.live.listening import Address
from posse.live.log import LEVELS, Format, Log, logging_to
from posse.live.options import ServiceOptions
from posse.live.reloading import Source, described
from posse.live.service import Service
from posse.scheduler.configuration import DEFAULT_CONF, Configuration, load, packages_named_in
from posse.scheduler.registry import Registry, installed
from posse.scheduler.switches import Side

RIGHTS = "a user with the rights that `deploy/rbac.yaml` gives a scheduler"
NOWHERE = "none"


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
@click.option(
    "--listen",
    default="127.0.0.1:8080",
    show_default=True,
    metavar="HOST:PORT",
    help="Where /healthz, /readyz, /metrics and /debug/explain are; :PORT is everywhere, `none` nowhere.",
)
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="On stderr.")
@click.option("--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="How much is logged.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    kubeconfig: str,
    context: str,
    config: str | None,
    compatibility: Side | None,
    scheduler_names: str,
    dry_run: bool,
    lease: str,
    no_lease: bool,
    listen: str,
    log_format: Format,
    log_level: str,
) -> None:
    """Schedule a cluster: gangs are bound whole or not at all.

    Pods are ours that name us (`schedulerName: posse`); those of other schedulers are left alone. Ctrl-C or SIGTERM
    ends it in good order; SIGHUP has the configuration read again, as every change of its file does.
    """
    access = access_to(kubeconfig, context)
    configuration, registry = _configured(config, compatibility)
    namespace, name = _lease_in(lease)
    options = ServiceOptions(
        scheduler_names=_names_in(scheduler_names),
        dry_run=dry_run,
        lease_namespace=namespace,
        lease_name=name,
        identity=f"{platform.node()}-{os.getpid()}-{os.urandom(4).hex()}",
        elects=not no_lease,
        listen=address_in(listen, must=ctx.get_parameter_source("listen") is not ParameterSource.DEFAULT),
        source=None if config is None else Source(config, compatibility),
    )
    with Progress() as progress:
        warm_up(progress)
    log = logging_to(sys.stderr, log_format, log_level)
    with _last_words(log, log_format), told_plainly(access, RIGHTS):
        asyncio.run(_serve(access, configuration, registry, options, log))


def _configured(path: str | None, mode: Side | None) -> tuple[Configuration, Registry]:
    text = DEFAULT_CONF if path is None else text_of(path)
    file = path or ""
    registry = installed(packages_named_in(text, file=file), beside=file)
    specs, actions = registry.plugin_specs(), registry.action_specs()
    return load(text, registry=specs, actions=actions, file=file, mode=mode), registry


def _lease_in(text: str) -> tuple[str, str]:
    namespace, slash, name = text.partition("/")
    if not slash or not namespace or not name:
        raise InputError(f"{text!r} names no lease", place=Place(field="--lease"), accepted="namespace/name")
    return namespace, name


def _names_in(text: str) -> tuple[str, ...]:
    names = tuple(sorted({each.strip() for each in text.split(",") if each.strip()}))
    if not names:
        raise InputError("names no scheduler", place=Place(field="--scheduler-names"), accepted="names between commas")
    return names


def address_in(text: str, *, must: bool = True) -> Address | None:
    """Read where to listen."""
    if text == NOWHERE:
        return None
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535 or (":" in bare and bare == host):
        accepted = "HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080; :PORT; none"
        raise InputError(f"{text!r} is no address", place=Place(field="--listen"), accepted=accepted)
    return Address(bare, int(port), must)


async def _serve(
    access: Access, configuration: Configuration, registry: Registry, options: ServiceOptions, log: Log
) -> None:
    log.info(
        "starting",
        version=__version__,
        server=access.server.url,
        schedulers=",".join(options.scheduler_names),
        identity=options.identity,
        lease=f"{options.lease_namespace}/{options.lease_name}" if options.elects else NOWHERE,
        listen=str(options.listen or NOWHERE),
        dry_run=options.dry_run,
        config=configuration.file or "default",
        compatibility=configuration.compatibility.mode,
        **described(configuration),
    )
    service = Service(access, configuration, registry, options, log)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, partial(_end, service, log, number.name))
    loop.add_signal_handler(signal.SIGHUP, service.reload)
    try:
        await service.run()
    except BaseExceptionGroup as group:
        raise _first(group) from group
    log.info("ended")


def _end(service: Service, log: Log, why: str) -> None:
    log.info("ending", signal=why)
    service.end()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The fault that ended everything."""
    fault: BaseException = group
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


@contextmanager
def _last_words(log: Log, form: Format) -> Iterator[None]:
    """Let who reads the log as JSON find there why it ended; a person is told as by every other verb."""
    try:
        yield
    except InputError as fault:
        if form == "text":
            raise
        log.error("failed", where=str(fault.place), why=fault.message, accepted=fault.accepted)
        raise click.exceptions.Exit(BAD_INPUT) from None
    except Exception as fault:
        if form == "text":
            raise
        log.error("failed by a fault of Posse", why=f"{type(fault).__name__}: {fault}")
        raise click.exceptions.Exit(OUR_FAULT) from None
