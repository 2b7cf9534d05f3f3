"""Children and theirs, of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

from runner.node.processes import children, descendants, has_ended, this_process


def _within_seconds(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def test_children_and_grandchildren_are_found() -> None:
    with subprocess.Popen(["bash", "-c", "sleep 300 & sleep 301 & wait"]) as shell:
        try:
            assert _within_seconds(lambda: len(descendants(shell.pid)) == 2)
            assert shell.pid in [process.pid for process in children(os.getpid())]
            below = {process.pid for process in descendants(os.getpid())}
            assert {shell.pid, *(process.pid for process in children(shell.pid))} <= below
        finally:
            for process in descendants(shell.pid):
                process.kill()
            shell.wait(60)


def test_a_process_that_is_gone_has_none() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait(60)
    assert descendants(gone.pid) == []


def test_a_process_is_known_by_its_name() -> None:
    machine, pid, started = this_process().split("-")
    assert int(pid) == os.getpid()
    assert not has_ended(this_process())
    assert has_ended(f"{machine}-{pid}-{int(started) + 1}"), "the number was another process's"
    assert not has_ended(f"{machine[::-1]}x-{pid}-1"), "of another machine nothing is known"
    assert not has_ended("")


def test_a_process_that_nobody_waited_for_has_ended() -> None:
    code = "from runner.node.processes import this_process; print(this_process(), flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert _within_seconds(lambda: has_ended(name))
        assert child.returncode is None  # it is still in the table of processes
