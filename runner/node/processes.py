"""Which processes descend from one, asked of the kernel without a walk through all that the machine runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil


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
