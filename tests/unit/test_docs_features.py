"""The table of features names tests, and all of them are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
LINES = [
    line
    for line in (ROOT / "docs" / "reference" / "features.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| |")
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split(" | ")[0].strip("| "))
def test_a_feature_has_a_test_or_is_none_of_ours(line):
    ours = line.strip("| ").split(" | ")[-1]
    if ours == "no":
        return
    file, name = NAMED.fullmatch(ours).groups()
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_table_is_there():
    assert len(LINES) > 60
    assert all(line.count("|") == 9 for line in LINES)
