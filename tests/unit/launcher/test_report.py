"""A performance report is promised only where it can be drawn."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.launcher.report import check_report


def test_it_needs_bokeh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    check_report(None)
    with pytest.raises(UsageError, match=r"--report needs bokeh.*pip install 'tomo-runner\[dashboard\]'"):
        check_report(Path("report.html"))
