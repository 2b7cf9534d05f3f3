"""Processes: which descend from one, and whether the one that left something behind still lives."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import psutil


def this_process() -> str:
    """Return a name for this process that no other has, of any machine, before or after: for file names."""
    return f"{_machine()}-{os.getpid()}-{_started(os.getpid())}"


def has_ended(process: str) -> bool:
    """Tell whether a process named by `this_process` is known to have ended.

    Of another machine's nothing is known, nor of one in another container.
    """
    machine, _, rest = process.partition("-")
    pid, _, started = rest.partition("-")
    return machine == _machine() and pid.isdecimal() and _started(int(pid)) != started


def children(pid: int) -> list[psutil.Process]:
    """Return the children of a process, also those that ended and that it has not waited for.

    Parameters
    ----------
    pid : int
        Any process; none are found if it is gone.
    """
    found = []
    for number in _numbers(Path(f"/proc/{pid}/task")):
        with suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(number))
    return found


def descendants(pid: int) -> list[psutil.Process]:
    """Return the children of a process, and theirs, to the last generation."""
    found = children(pid)
    for process in found:  # which grows meanwhile
        found.extend(children(process.pid))
    return found


def _numbers(threads: Path) -> list[int]:
    """Read the children of each thread of a process."""
    numbers: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        for thread in threads.iterdir():
            numbers += map(int, (thread / "children").read_text().split())
    return numbers


def _machine() -> str:
    """Return eight digits for this machine and, in a container, for its own numbering of processes."""
    numbering = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it names no file
    return hashlib.sha256(f"{os.uname().nodename} {numbering}".encode()).hexdigest()[:8]


def _started(pid: int) -> str:
    """Return when a process started, in the kernel's own count; empty if there is none, or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]
