"""Hand chunks out to the workers of a Dask cluster, again where one fails, and gather what they tell."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import psutil
from distributed import Client, Future, KilledWorker

from runner.errors import LostError, StartError
from runner.tomo.plan import Chunk, Resources

Result = TypeVar("Result")

_ATTEMPTS = 3
_TICK = 0.5  # between two looks at the workers, seconds
_PATIENCE = 60.0  # without any worker, seconds: a launcher or a nanny replaces a lost one in far less


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the work is, in rows."""

    done: int
    failed: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A chunk that could not be done.

    Attributes
    ----------
    chunk : Chunk
        Which.
    cause : BaseException
        What the first attempt met.
    """

    chunk: Chunk
    cause: BaseException


def resources_of(client: Client) -> Resources:
    """Ask what the workers of a cluster have.

    Returns
    -------
    Resources
        Where workers differ, the least memory and the most threads: every thread has buffers of its own.

    Raises
    ------
    StartError
        If there are no workers.
    """
    workers = _workers(client)
    if not workers:
        raise StartError("the cluster has no workers", "start some, or wait until they are there")
    unlimited = psutil.virtual_memory().total // len(workers)
    return Resources(
        workers=len(workers),
        memory=min(about["memory_limit"] or unlimited for about in workers.values()),
        threads=max(about["nthreads"] for about in workers.values()),
    )


def run_chunks(
    client: Client,
    work: Callable[[Chunk], Result],
    chunks: Iterable[Chunk],
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[list[Result], list[Failure]]:
    """Do all chunks, one at a time on every worker.

    A chunk that raises is tried again on another worker, three times in all. A chunk whose worker dies is
    run again by Dask itself, which gives up (``KilledWorker``) when it took several workers with it.

    Parameters
    ----------
    client : Client
        Of any cluster; workers may come and go.
    work : callable
        Runs on a worker; doing a chunk twice must do no harm.
    chunks : iterable of Chunk
        What to do.
    on_progress : callable
        Called after every chunk and at least twice a second.

    Returns
    -------
    results, failures
        Each chunk is in one of the two.

    Raises
    ------
    LostError
        If the cluster is gone, or has had no worker for a minute.
    """
    dispatch = _Dispatch(client, work, tuple(chunks))
    try:
        while dispatch.unfinished:
            dispatch.hand_out()
            dispatch.gather()
            on_progress(dispatch.progress)
    finally:
        client.cancel(list(dispatch.running), force=True)
    return dispatch.results, dispatch.failures


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    chunk: Chunk
    number: int = 1
    worker: str = ""
    failed_on: frozenset[str] = frozenset()
    cause: BaseException | None = None


class _Dispatch(Generic[Result]):
    """Which chunks wait, run, are done and have failed."""

    def __init__(self, client: Client, work: Callable[[Chunk], Result], chunks: Sequence[Chunk]) -> None:
        self._client = client
        self._work = work
        self._waiting = deque(_Attempt(chunk=chunk) for chunk in chunks)
        self._finished: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        self._last_seen = time.monotonic()
        self._total = sum(chunk.rows for chunk in chunks)
        self._done = 0
        self.running: dict[Future[Result], _Attempt] = {}
        self.results: list[Result] = []
        self.failures: list[Failure] = []

    @property
    def unfinished(self) -> bool:
        """Whether there is anything left to do or to wait for."""
        return bool(self._waiting or self.running)

    @property
    def progress(self) -> Progress:
        """How far the work is."""
        failed = sum(failure.chunk.rows for failure in self.failures)
        return Progress(done=self._done, failed=failed, total=self._total)

    def hand_out(self) -> None:
        """Give every idle worker a chunk."""
        workers = list(_workers(self._client))
        self._see_to_presence(bool(workers))
        busy = {attempt.worker for attempt in self.running.values()}
        for worker in workers:
            if self._waiting and worker not in busy:
                self._submit(self._next_for(worker, workers), worker)

    def gather(self) -> None:
        """Wait for a chunk to finish, but not long, and take its result."""
        try:
            future = self._finished.get(timeout=_TICK)
        except queue.Empty:
            return
        attempt = self.running.pop(future)
        error = _error_of(future)
        if error is None:
            self.results.append(future.result())
            self._done += attempt.chunk.rows
        else:
            self._see_to_failure(attempt, error)

    def _submit(self, attempt: _Attempt, worker: str) -> None:
        # should the worker be gone by now, Dask may choose another one
        future = self._client.submit(
            self._work, attempt.chunk, workers=[worker], allow_other_workers=True, pure=False
        )
        self.running[future] = replace(attempt, worker=worker)
        future.add_done_callback(self._finished.put)

    def _next_for(self, worker: str, workers: Sequence[str]) -> _Attempt:
        """Take the first chunk that has not failed on this worker; where all have on all, any."""
        for attempt in self._waiting:
            if worker not in attempt.failed_on or attempt.failed_on.issuperset(workers):
                self._waiting.remove(attempt)
                return attempt
        return self._waiting.popleft()

    def _see_to_failure(self, attempt: _Attempt, error: BaseException) -> None:
        cause = attempt.cause or error
        if attempt.number == _ATTEMPTS or isinstance(error, KilledWorker):
            self.failures.append(Failure(chunk=attempt.chunk, cause=cause))
            return
        again = replace(
            attempt,
            number=attempt.number + 1,
            failed_on=attempt.failed_on | {attempt.worker},
            cause=cause,
        )
        self._waiting.append(again)

    def _see_to_presence(self, present: bool) -> None:
        now = time.monotonic()
        if present:
            self._last_seen = now
        elif now - self._last_seen > _PATIENCE:
            raise LostError(f"there has been no worker for {_PATIENCE:.0f} s", "see the workers' logs")


def _error_of(future: Future[Any]) -> BaseException | None:
    if future.status in ("cancelled", "lost"):
        raise LostError("the connection to the cluster is lost", "see the scheduler's log")
    try:
        error: BaseException | None = future.exception()
    except CancelledError as lost:
        raise LostError("the connection to the cluster is lost", "see the scheduler's log") from lost
    return error


def _workers(client: Client) -> dict[str, dict[str, Any]]:
    return dict(client.scheduler_info(n_workers=-1)["workers"])
