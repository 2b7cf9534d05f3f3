"""Every wait ends."""

from __future__ import annotations

import time

import pytest

from runner.launcher.deadline import Deadline


def test_time_runs_out() -> None:
    deadline = Deadline(0.05)
    assert 0 < deadline.left <= 0.05
    assert not deadline.over
    time.sleep(0.06)
    assert deadline.left == 0
    assert deadline.over


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_is_over_at_once(seconds: float) -> None:
    assert Deadline(seconds).over
