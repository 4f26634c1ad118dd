"""`posse config`, `posse plugins`, `posse version`: what there is to configure, and whether a file says it right."""

import json
import subprocess
import sys
from pathlib import Path

from posse import __version__
from posse.scheduler.configuration import DEFAULT_CONF
from posse.scheduler.registry import built_in
from posse.scheduler.switches import SWITCHES
from tests.cli.posse import Posse

EXAMPLE = Path(__file__).parents[2] / "examples" / "conf" / "recommended.conf"


def test_a_good_configuration_is_said_to_be_good_and_what_it_means(posse: Posse) -> None:
    file = posse.file("mine.conf", 'actions: "allocate"\ntiers:\n- plugins: [{name: gang}]\n')

    result = posse("config", "check", file)

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "The configuration is good.",
        "actions   allocate",
        "tier 1    gang",
        "follows   posse",
    ]


def test_a_slip_is_named_with_its_line_and_the_nearest_name(posse: Posse) -> None:
    file = posse.file("mine.conf", 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gnag\n')

    result = posse("config", "check", file)

    assert result.exit_code == 2
    assert "line 4" in result.stderr
    assert "did you mean 'gang'?" in result.stderr


def test_under_upstreams_compatibility_a_slip_is_a_warning(posse: Posse) -> None:
    file = posse.file("mine.conf", 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gnag\n')

    result = posse("config", "check", file, "--compatibility", "upstream")

    assert result.exit_code == 0
    assert "! " in " ".join(result.stdout.split())
    assert "follows   upstream" in result.stdout


def test_the_default_is_printed_as_it_is_read(posse: Posse) -> None:
    assert posse("config", "default").stdout == DEFAULT_CONF


def test_the_recommended_one_is_the_example_and_is_good(posse: Posse) -> None:
    printed = posse("config", "recommended").stdout

    assert printed == EXAMPLE.read_text(encoding="utf-8")
    assert posse("config", "check", posse.file("recommended.conf", printed)).exit_code == 0


def test_every_switch_is_listed(posse: Posse) -> None:
    switches = json.loads(posse("config", "switches", "-o", "json").stdout)
    shown = posse("config", "switches").stdout

    assert [switch["name"] for switch in switches] == [switch.name for switch in SWITCHES]
    assert all(switch.name in shown for switch in SWITCHES)


def test_every_plugin_is_listed_with_what_it_can_be_told(posse: Posse) -> None:
    plugins = json.loads(posse("plugins", "-o", "json").stdout)

    assert [plugin["name"] for plugin in plugins] == sorted(built_in().plugins)
    assert all(plugin["summary"] for plugin in plugins)


def test_one_plugin_can_be_looked_up(posse: Posse) -> None:
    shown = posse("plugins", "gang").stdout

    assert shown.startswith("gang  ")
    assert "gang.order: ready-first" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_an_unknown_plugin_is_answered_with_those_there_are(posse: Posse) -> None:
    result = posse("plugins", "gong")

    assert result.exit_code == 2
    assert "conformance, " in result.stderr


def test_version_and_help_load_nothing_that_is_slow() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from posse.cli.main import posse;"
        "out = [CliRunner().invoke(posse, [word]).output for word in ('version', '--help', '--version')];"
        "assert not {'numba', 'numpy', 'rich', 'yaml'} & set(sys.modules), sorted(sys.modules);"
        "print(out[0])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == f"posse {__version__}"
