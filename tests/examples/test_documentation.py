"""What the documentation quotes is what the code says and what the commands print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from posse.scheduler.configuration import load
from posse.scheduler.plugin import EXTENSION_POINTS
from posse.scheduler.registry import built_in
from posse.scheduler.switches import SWITCHES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def test_tables_and_outputs_are_up_to_date() -> None:
    check = subprocess.run(
        [sys.executable, DOCS / "refresh.py", "--check"], capture_output=True, text=True, check=False
    )

    assert check.returncode == 0, check.stdout + check.stderr


def test_every_switch_has_a_row() -> None:
    assert [switch.name for switch in SWITCHES if f"| `{switch.name}` |" not in page("compatibility")] == []


def test_every_plugin_and_each_of_its_arguments_is_described() -> None:
    told = page("configuration")
    plugins = built_in().plugins

    assert [name for name in plugins if f"\n### {name}\n" not in told] == []
    assert [
        one.name for plugin in plugins.values() for one in plugin.arguments if f"| `{one.name}` |" not in told
    ] == []


def test_every_action_is_described() -> None:
    assert [name for name in built_in().actions if f"| `{name}` |" not in page("configuration")] == []


def test_every_extension_point_is_listed() -> None:
    assert [point for point in EXTENSION_POINTS if f"| `{point}` |" not in page("plugins")] == []


@pytest.mark.parametrize("name", ["configuration", "plugins"])
def test_a_configuration_that_a_page_shows_can_be_read(name: str) -> None:
    registry = built_in()
    specs = {**registry.plugin_specs(), "maintenance": registry.plugin_specs()["gang"]}
    shown = [block for block in re.findall(r"```yaml\n(.*?)```", page(name), re.DOTALL) if block.startswith("actions:")]

    assert shown
    for text in shown:
        assert load(text, registry=specs, actions=registry.action_specs()).warnings == ()


def test_the_plugin_that_the_page_shows_is_the_example() -> None:
    (shown,) = re.findall(r"```python\n(from posse\.cluster\.views.*?)```", page("plugins"), re.DOTALL)
    example = (ROOT / "examples" / "plugins" / "01_three_line_filter.py").read_text(encoding="utf-8")

    assert shown in example
