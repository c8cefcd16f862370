"""CONTRIBUTING.md lists the layers that the import contract holds the package to."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_contributing_lists_every_module_in_the_order_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    level = {
        module: i for i, layer in enumerate(contract["layers"]) for module in layer.split(" | ")
    }
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    ([a-z_]+(?:, [a-z_]+)*) {2,}", text, re.MULTILINE)
    listed = [module for line in lines for module in line.split(", ")]
    assert sorted(listed) == sorted(level)
    # Two layers may share a line; none stands above one that may import it.
    tops = [min(level[module] for module in line.split(", ")) for line in lines]
    assert tops == sorted(tops)
