"""The stages of a worker's chunks: while one chunk is written, the next is made and a third one is read.

Each stage takes one chunk at a time, whatever thread it comes in, and a chunk leaves a stage only when the
next one takes it. So a process never holds more than one chunk for each stage, as the plan counts on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self

Stage = Literal["read", "reconstruct", "write"]

IN_ALL = 3
"""How many chunks a process can have in its stages."""

_BUSY: dict[Stage, threading.Lock] = {
    "read": threading.Lock(),
    "reconstruct": threading.Lock(),
    "write": threading.Lock(),
}


class Passage:
    """The way of one chunk through the stages, in their order; the last one is left at the end of ``with``.

    Attributes
    ----------
    seconds : dict of str to float
        Wall time in each stage, without the wait for it.
    begun : dict of str to float
        When each stage began, seconds since 1970 by this machine's clock.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.begun: dict[str, float] = {}
        self._within: threading.Lock | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Wait for a stage, leave the one before, and count the time until the end of ``with``."""
        busy = _BUSY[name]
        busy.acquire()
        self._leave()  # not before: what was made there is still in memory
        self._within = busy
        self.begun[name] = time.time()
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    def _leave(self) -> None:
        if self._within is not None:
            self._within.release()
            self._within = None
