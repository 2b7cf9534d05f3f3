"""A worker that dies is named with the cause, and replaced, but not for ever."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


def test_a_worker_that_outgrows_its_memory(way: Way) -> None:
    result = way.run("--memory-limit", "500M", JOBS / "deadly.py", "memory", ranks=2)
    assert (result.code, result.out) == (0, "recovered\n"), result.err
    assert "out of memory: it had" in result.err
    assert "of its 500.0 MiB of memory; started again" in result.err
    assert "Traceback" not in result.err


def test_a_task_that_kills_every_worker_is_given_up_and_named(way: Way) -> None:
    # the second death is told if it is noticed while the job stops
    words = ("--max-worker-deaths", "2", "--stop-timeout", "5s")
    result = way.run(*words, JOBS / "deadly.py", "crash", ranks=2)
    assert result.code == 1
    assert result.err.count("killed by signal 11 (SIGSEGV)") == 2
    assert "deadly.py" in result.err  # where it crashed
    assert "Attempted to run task 'crash-" in result.err
    assert result.ended_at - (way.folder / "begun").stat().st_mtime < 20


def test_a_rank_that_may_restart_nothing_ends_the_job(local: Way) -> None:
    result = local.run("--restarts", "0", JOBS / "deadly.py", "crash", ranks=1)
    assert result.code == 70
    assert "not started again after 0 deaths" in result.err
    assert "0 workers are left, the job needs 1" in result.err


def test_without_its_scheduler_a_job_ends_at_once(way: Way) -> None:
    with way.start(JOBS / "sleeps.py") as command:
        end = time.monotonic() + 40
        while not (way.folder / "sleeping").exists():
            assert time.monotonic() < end, command.stderr
            time.sleep(0.02)
        schedulers = [pid for pid in command.processes() if name_of(pid) == "runner schedule"]
        os.kill(schedulers[0], signal.SIGKILL)
        finished = command.wait(timeout=5)
    assert finished.returncode == 70
    assert "scheduler: killed by signal 9 (SIGKILL); the job cannot go on without it" in finished.stderr
    assert "Traceback" not in finished.stderr
    way.check_nothing_is_left()


def name_of(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""
