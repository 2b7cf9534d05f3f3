"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    ".".join(source.relative_to(ROOT).with_suffix("").parts)
    for source in sorted((ROOT / "runner").rglob("*.py"))
    if ">>> " in source.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for examples that write files
    failed, tried = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert tried
    assert not failed
