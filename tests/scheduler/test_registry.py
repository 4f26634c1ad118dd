"""The registry: what comes with Posse, and what a configuration brings along."""

from pathlib import Path

import pytest

from posse.errors import InputError, Place
from posse.scheduler.conf_parts import Package
from posse.scheduler.plugins.gang import GangPlugin
from posse.scheduler.registry import built_in, installed, spec_of

PLUGIN = '''
from posse.scheduler.plugin import Plugin

class TidyPlugin(Plugin):
    """Refuse untidy nodes.

    More of it.
    """

    name = "{name}"

    def node_filter(self, task, node):
        """Refuse what is called untidy."""
        return "is untidy" if node.name == "untidy" else None
'''


def written(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text)
    return path.name


def test_every_plugin_that_comes_along_says_what_it_is_for() -> None:
    known = built_in()

    assert {"gang", "priority", "conformance", "drf", "predicates", "proportion", "nodeorder", "binpack"} <= set(
        known.plugins
    )
    assert all(spec.summary.endswith(".") for spec in known.plugin_specs().values())
    assert set(known.action_specs()) >= {"enqueue", "allocate", "backfill"}


def test_a_plugin_is_described_by_what_it_declares() -> None:
    spec = spec_of(GangPlugin)

    assert (spec.name, spec.summary) == ("gang", "Bind a gang's minimum together or not at all.")
    assert [argument.name for argument in spec.arguments] == ["gang.order"]
    assert {"gang_ready", "gang_valid", "gang_pipelined"} <= spec.points
    assert "node_filter" not in spec.points


def test_a_file_beside_the_configuration_can_bring_a_plugin(tmp_path: Path) -> None:
    file = written(tmp_path, PLUGIN.format(name="tidy"))
    known = installed([Package(file)], beside=str(tmp_path / "scheduler.conf"))

    assert known.plugin_specs()["tidy"].summary == "Refuse untidy nodes."
    assert set(built_in().plugins) < set(known.plugins)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "has no plugin"),
        ("def broken(:\n", "cannot be imported"),
        ("import nothing_of_this_name\n", "cannot be imported"),
        (PLUGIN.format(name="gang"), "two plugins are called 'gang'"),
        (PLUGIN.replace('"{name}"', "5"), r"plugin class TidyPlugin, name: its name is 5 \(accepted: a text"),
        (PLUGIN + '    arguments = ["x"]\n', "TidyPlugin, arguments: .*a tuple of Argument"),
        (PLUGIN + '    depends_on = {"moon"}\n', "TidyPlugin, depends_on: .*a frozenset of some of"),
        ("raise SystemExit(3)\n", "cannot be imported: SystemExit: 3"),
    ],
)
def test_a_file_that_brings_none_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        installed([Package(written(tmp_path, text))], beside=str(tmp_path / "scheduler.conf"))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        installed(
            [Package("gone.py", Place(file="s.conf", line=7, field="plugins[0]"))], beside=str(tmp_path / "s.conf")
        )

    assert str(caught.value).startswith("s.conf, line 7, plugins[0]: the plugin package 'gone.py' cannot be imported")
    assert "accepted: the path of a .py file, or an import name" in str(caught.value)


def test_a_package_can_be_named_as_python_imports_it() -> None:
    with pytest.raises(InputError, match="no_such_package"):
        installed([Package("no_such_package")])
