"""How a worker died: by what, with how much memory, and what it said last."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from runner.launcher.crew import Child
from runner.launcher.exits import describe
from runner.node.memory import resident
from runner.units import format_size

_LOOK_SECONDS = 0.1
_TERMINATE = 0.95  # of the limit; Dask has begun to spill and to pause long before
_LINES = 20
_LINE_LENGTH = 500
_END_OF_LOG = 1 << 16  # bytes
_USUAL = (" INFO ", "Extension modules: ")


class MemoryWatch:
    """Keeps a worker within its memory, and remembers how much it had.

    A worker that outgrows its share would make the kernel, or the batch system, kill some process of the job,
    or the whole job. Dask's own nanny does the same; our workers have none.

    Parameters
    ----------
    child : Child
        The worker.
    limit : int
        Its share, bytes.
    """

    def __init__(self, child: Child, limit: int) -> None:
        self._child = child
        self._limit = limit
        self._last = 0
        self._outgrown = False

    async def watch(self) -> None:
        """Look at the worker until it ends; kill it when it has outgrown its share."""
        while self._child.running:
            if self._child.pid is not None:
                self._last = resident(self._child.pid) or self._last
                if self._last > _TERMINATE * self._limit:
                    self._outgrown = True
                    self._child.signal(signal.SIGKILL)
            await asyncio.sleep(_LOOK_SECONDS)

    def describe(self, code: int) -> str:
        """Say how the worker ended, by its exit code and what was seen of its memory."""
        return describe_death(code, last=self._last, limit=self._limit, outgrown=self._outgrown)


def describe_death(code: int, *, last: int, limit: int, outgrown: bool) -> str:
    """Say how a worker ended.

    >>> describe_death(139, last=2**30, limit=2**31, outgrown=False)
    'killed by signal 11 (SIGSEGV), with 1.0 GiB of its 2.0 GiB of memory'
    """
    if not last:
        return describe(code)
    amount = f"{format_size(last)} of its {format_size(limit)} of memory"
    if outgrown:
        return f"out of memory: it had {amount}"
    if code == 128 + signal.SIGKILL and last > 0.8 * limit:
        return f"{describe(code)}, with {amount}: out of memory?"
    return f"{describe(code)}, with {amount}"


def last_words(log: Path) -> list[str]:
    """Return the last lines of a process's log that are more than a record of its usual life."""
    try:
        with log.open("rb") as file:
            file.seek(-min(_END_OF_LOG, os.fstat(file.fileno()).st_size), os.SEEK_END)
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    telling = [line for line in lines if line.strip() and not any(word in line for word in _USUAL)]
    return [line[:_LINE_LENGTH] for line in telling[-_LINES:]]
