"""What a script asks: how much time is left, and to be told before it is over."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time

import pytest

import runner
from runner.errors import UsageError


@pytest.fixture(autouse=True)
def no_batch_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "OAR_JOB_ID", "JOB_ID", "RUNNER_END", "RUNNER_DRAIN"):
        monkeypatch.delenv(name, raising=False)


def test_without_an_end_there_is_all_the_time() -> None:
    assert runner.time_left() == math.inf


@pytest.mark.parametrize(
    "variables",
    [
        {"RUNNER_END": "{end}"},
        {"SLURM_JOB_ID": "36", "SLURM_JOB_END_TIME": "{end}"},
        {"SLURM_JOB_ID": "36", "SLURM_JOB_END_TIME": "1", "RUNNER_END": "{end}"},
    ],
)
def test_time_left(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    end = int(time.time()) + 100
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(end=end))
    before = time.time()
    left = runner.time_left()
    assert end - time.time() <= left <= end - before


def test_time_left_is_never_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_END", "1700000000")
    assert runner.time_left() == 0


def test_a_wrong_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_END", "noon")
    with pytest.raises(UsageError, match="RUNNER_END='noon' is not a whole number"):
        runner.time_left()


def end_in(monkeypatch: pytest.MonkeyPatch, seconds: int, *, drain: int | None = None) -> int:
    end = int(time.time()) + seconds
    monkeypatch.setenv("RUNNER_END", str(end))
    if drain is not None:
        monkeypatch.setenv("RUNNER_DRAIN", str(drain))
    return end


def test_the_hook_is_called_once_in_time_in_a_daemon_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[float, threading.Thread]] = []
    called = threading.Event()

    def hook() -> None:
        calls.append((time.time(), threading.current_thread()))
        called.set()

    end = end_in(monkeypatch, 62, drain=60)
    runner.on_drain(hook)
    assert called.wait(timeout=60)
    time.sleep(0.1)
    ((moment, thread),) = calls
    assert end - 60 <= moment < end
    assert thread.daemon
    assert thread is not threading.main_thread()


@pytest.mark.parametrize("drain", [None, 60])  # a minute is the default outside of a job of ours
def test_a_late_hook_is_called_at_once(monkeypatch: pytest.MonkeyPatch, drain: int | None) -> None:
    end_in(monkeypatch, 50, drain=drain)
    called = threading.Event()
    runner.on_drain(called.set)
    assert called.wait(timeout=40)


def drain_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "runner-drain"}


def test_nobody_waits_where_there_is_no_end_or_no_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    before = drain_threads()
    runner.on_drain(lambda: None)
    end_in(monkeypatch, 5, drain=0)
    runner.on_drain(lambda: None)
    assert drain_threads() <= before  # those of other tests may end meanwhile


def test_it_is_light() -> None:
    code = (
        "import sys, runner; before = 'runner.walltime' in sys.modules; runner.time_left();"
        "print(before, [n for n in ('dask', 'distributed', 'numpy', 'runner.launcher') if n in sys.modules])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNNER_")}
    printed = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=30, check=True
    )
    assert printed.stdout.strip() == "False []"


def test_other_names_are_no_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'time_lost'"):
        _ = runner.time_lost
