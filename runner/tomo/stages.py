"""The stages of a worker's chunks: while one chunk is written, the next is made and a third one is read.

Each stage takes one chunk at a time, whatever thread it comes in, and a chunk leaves a stage only when the
next one takes it. So a process never holds more than one chunk for each stage, as the plan counts on.

The wait for a stage has no deadline of its own. What is done there may rightly take hours, as many steps
of an iterative method do, or files that come back from tape, and nothing here tells that from a disk that
hangs. A chunk that gave up would be made by another worker, and wait for the same disk. So the wait says what
it waits for, and the end of the job's time is its end: the client then leaves what is missing for the next
run, and the processes are ended from outside.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self

from runner.units import format_duration

_LOG = logging.getLogger(__name__)

Stage = Literal["read", "reconstruct", "write"]

IN_ALL = 3
"""How many chunks a process can have in its stages."""

_SILENCE_SECONDS = 600.0  # after this a wait says what it waits for, and again at longer intervals


class _Place:
    """A stage of this process, and the chunk that is in it."""

    def __init__(self) -> None:
        self.busy = threading.Lock()
        self.within = ""


_PLACES: dict[Stage, _Place] = {"read": _Place(), "reconstruct": _Place(), "write": _Place()}


class Passage:
    """The way of one chunk through the stages, in their order; the last one is left at the end of ``with``.

    Parameters
    ----------
    chunk : str
        What to call it.

    Attributes
    ----------
    seconds : dict of str to float
        Wall time in each stage, without the wait for it.
    begun : dict of str to float
        When each stage began, seconds since 1970 by this machine's clock.
    """

    def __init__(self, chunk: str) -> None:
        self.seconds: dict[str, float] = {}
        self.begun: dict[str, float] = {}
        self._chunk = chunk
        self._at: _Place | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Wait for a stage, leave the one before, and count the time until the end of ``with``."""
        self._wait_for(name)
        self._leave()  # not before: what was made there is still in memory
        self._at = _PLACES[name]
        self.begun[name] = time.time()
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    def _wait_for(self, name: Stage) -> None:
        place, patience, begun = _PLACES[name], _SILENCE_SECONDS, time.monotonic()
        while not place.busy.acquire(timeout=patience):
            waited = format_duration(time.monotonic() - begun)
            line = "%s has waited %s for its turn to %s: %s is still at it"
            _LOG.warning(line, self._chunk, waited, name, place.within)
            patience *= 2
        place.within = self._chunk

    def _leave(self) -> None:
        if self._at is not None:
            self._at.busy.release()
            self._at = None
