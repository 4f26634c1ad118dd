"""The plain manifests: the chart with its defaults, as files for those who have no Helm.

    python -m tests.deploy.rendering

writes them; a test holds them to what the chart says now.
"""

import sys
import tempfile
from pathlib import Path

from tests.cluster.binaries import tell
from tests.deploy.helm import CHART, Helm, find_or_build

FOLDER = CHART.parent
MADE = "# From deploy/chart by `python -m tests.deploy.rendering`: change it there."
HEADS = {
    "posse.yaml": "# Posse in a cluster. Apply with `kubectl apply -f deploy/posse.yaml`.",
    "rbac.yaml": "# What `posse scheduler` may do, and nothing more. Apply with `kubectl apply -f deploy/rbac.yaml`.",
}


def plain(helm: Helm) -> dict[str, str]:
    """Write the text of each file."""
    templates = {"posse.yaml": [""], "rbac.yaml": ["serviceaccount", "rbac"]}
    return {
        name: f"{HEADS[name]}\n{MADE}\n"
        + "---\n".join(tidy(helm.text("posse", "kube-system", only=only)) for only in chosen)
        for name, chosen in templates.items()
    }


def tidy(text: str) -> str:
    """Leave out what Helm says about where each object comes from."""
    lines = (line for line in text.splitlines() if line and not line.startswith("# Source: "))
    return "\n".join(lines).removeprefix("---\n") + "\n"


def main() -> int:
    """Write the files."""
    with tempfile.TemporaryDirectory() as home:
        texts = plain(Helm(find_or_build(tell), Path(home)))
    for name, text in texts.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
