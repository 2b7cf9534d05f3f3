"""Every wait ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from runner.launcher import deadline as module
from runner.launcher.deadline import Deadline


def test_time_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    deadline = Deadline(5)
    assert deadline.left == 5
    clock.now += 4.5
    assert deadline.left == 0.5
    assert not deadline.over
    clock.now += 0.5
    assert deadline.left == 0
    assert deadline.over


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_is_over_at_once(seconds: float) -> None:
    assert Deadline(seconds).over
