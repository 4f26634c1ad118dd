"""Blame: whose fault an exception in a cycle is, said so that its author can mend it.

Plugins are other people's code in the middle of ours. When one of them raises, the message names the plugin, the method
and the line, as for any bad input; an exception that passed through no plugin is ours, and goes on as it is.
"""

from collections.abc import Collection
from traceback import walk_tb

from posse.errors import InputError, Place
from posse.scheduler.plugin import Plugin


def blamed(fault: Exception, plugins: Collection[Plugin]) -> Exception:
    """The fault, as a message about the plugin that it came from if there is one."""
    return accused(fault, plugins) or fault


def accused(fault: BaseException, plugins: Collection[Plugin]) -> InputError | None:
    """The message about the plugin that a fault came from, if there is one."""
    found: InputError | None = None
    for frame, line in walk_tb(fault.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, Plugin) and owner in plugins and not isinstance(fault, InputError):
            method, file = frame.f_code.co_name, frame.f_code.co_filename
            place = Place(file=file, line=line, object=f"plugin {owner.name}", field=method)
            found = InputError(f"raised {type(fault).__name__}: {fault}", place=place)
    return found
