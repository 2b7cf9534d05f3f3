"""Hand chunks out to the workers of a Dask cluster, again where one fails, and gather what they tell."""

from __future__ import annotations

import asyncio
import functools
import math
import queue
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import psutil
from distributed import Client, Future, secede, wait

from runner.errors import LostError, StartError
from runner.forgotten import Watch
from runner.tomo.plan import ALIGNMENT, Chunk, Resources, cut
from runner.workers import CONNECTION_LOST, workers_of

Result = TypeVar("Result")

_ATTEMPTS = 3
_TICK = 0.5  # between two looks at the workers, seconds
_GATHER = 10.0  # for the small results of finished chunks to come, seconds
_LITTLE = 2.0  # for what each worker does besides, seconds
_LAST_WORDS = (1.5, 10.0)  # at least and at most, before the end, seconds
_PATIENCE = 60.0  # without any worker, seconds: a launcher or a nanny replaces a lost one in far less


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the work is, in rows; and in how many chunks it is, of which some are being worked on."""

    done: int
    failed: int
    total: int
    chunks: int = 0
    running: int = 0


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
    workers = workers_of(client)
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
    at_once: int = 1,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_retry: Callable[[Failure], None] = lambda _: None,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> tuple[list[Result], list[Failure], list[Chunk]]:
    """Do all chunks, one or a few at a time on every worker.

    A chunk that raises, or whose worker dies or forgets it, is tried again on another worker, three times
    in all, and then alone: if that worker dies too, it is not for another chunk's sake. It is tried in halves
    where memory may have been the cause. A worker whose last chunk took longer than the time left gets no
    other; those that run are finished.

    Parameters
    ----------
    client : Client
        Of any cluster; workers may come and go.
    work : callable
        Runs on a worker; doing a chunk twice must do no harm.
    chunks : iterable of Chunk
        What to do.
    at_once : int
        How many chunks a worker may have, each in a thread of its own.
    on_progress : callable
        Called after every chunk and at least twice a second.
    on_retry : callable
        Called with an attempt that failed, of a chunk that is to be tried again.
    seconds_left : callable
        Returns the seconds until all must be over; what still runs shortly before is given up, see
        `last_words`.

    Returns
    -------
    results, failures, left
        Each chunk is in one of the three; those that are left were not done for want of time.

    Raises
    ------
    LostError
        If the cluster is gone, or has had no worker for a minute.
    """
    dispatch = _Dispatch(
        client, work, tuple(chunks), at_once=at_once, seconds_left=seconds_left, on_retry=on_retry
    )
    on_progress(dispatch.progress)
    try:
        while dispatch.unfinished:
            dispatch.hand_out()
            dispatch.gather()
            on_progress(dispatch.progress)
    finally:
        dispatch.cancel()
    return dispatch.results, dispatch.failures, dispatch.left


def on_each_worker(client: Client, work: Callable[[], object]) -> None:
    """Do a little thing in the process of each worker; those that do not come to it at once are let be."""
    with suppress(LostError, TimeoutError):
        futures = [client.submit(work, workers=[worker], pure=False) for worker in workers_of(client)]
        try:
            wait(futures, timeout=_LITTLE)
        finally:
            client.cancel(futures, force=True)


def most_at_once(at_once: int, waiting: int, workers: int) -> int:
    """Say how many chunks a worker may have now: towards the end fewer, so that none waits for a slow one.

    >>> [most_at_once(3, waiting, 4) for waiting in (40, 4, 3, 0)]
    [3, 3, 2, 2]
    """
    return min(at_once, 2 + waiting // max(workers, 1))


def last_words(seconds_left: float) -> float:
    """Say how long before the end what runs is given up: files are to be closed, the page to be written.

    >>> [last_words(left) for left in (5.0, 20.0, 3600.0)]
    [1.5, 4.0, 10.0]
    """
    least, most = _LAST_WORDS
    return min(max(least, seconds_left / 5), most)


def halves(chunk: Chunk) -> tuple[Chunk, ...]:
    """Cut a chunk that may have been too much for its worker's memory; the smallest ones stay whole.

    >>> [(half.first_row, half.end_row) for half in halves(Chunk(first_row=32, end_row=92))]
    [(32, 64), (64, 92)]
    """
    return tuple(cut(chunk.first_row, chunk.end_row, -(-chunk.rows // (2 * ALIGNMENT)) * ALIGNMENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    chunk: Chunk
    number: int = 1
    worker: str = ""
    begun: float = 0.0
    failed_on: frozenset[str] = frozenset()
    cause: BaseException | None = None


class _Dispatch(Generic[Result]):
    """Which chunks wait, run, are done and have failed."""

    def __init__(
        self,
        client: Client,
        work: Callable[[Chunk], Result],
        chunks: Sequence[Chunk],
        *,
        at_once: int,
        seconds_left: Callable[[], float],
        on_retry: Callable[[Failure], None],
    ) -> None:
        self._client = client
        self._at_once = at_once
        self._seconds_left = seconds_left
        self._last_words = last_words(seconds_left())
        self._on_retry = on_retry
        self._took: dict[str, float] = {}  # by each worker for its last chunk, seconds
        self._too_late = False
        self._work = work
        self._waiting = deque(_Attempt(chunk=chunk) for chunk in chunks)
        self._finished: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        self._workers: dict[str, None] = {}
        self._looked = -math.inf
        self._last_seen = time.monotonic()
        self._watch = Watch(client)
        self._total = sum(chunk.rows for chunk in chunks)
        self._done = 0
        self.running: dict[Future[Result], _Attempt] = {}
        self.results: list[Result] = []
        self.failures: list[Failure] = []

    @property
    def unfinished(self) -> bool:
        """Whether there is anything left to do or to wait for, and time for it."""
        if self._seconds_left() < self._last_words:
            return False
        return bool(self.running or (self._waiting and not self._too_late))

    @property
    def left(self) -> list[Chunk]:
        """The chunks that wait or run, in order."""
        attempts = [*self._waiting, *self.running.values()]
        return sorted((attempt.chunk for attempt in attempts), key=lambda chunk: chunk.first_row)

    @property
    def progress(self) -> Progress:
        """How far the work is."""
        failed = sum(failure.chunk.rows for failure in self.failures)
        return Progress(
            done=self._done,
            failed=failed,
            total=self._total,
            chunks=len(self.results) + len(self.failures) + len(self._waiting) + len(self.running),
            running=len(self.running),
        )

    def hand_out(self) -> None:
        """Take back what lost workers had, and give chunks to the workers that have room for more."""
        if time.monotonic() - self._looked >= _TICK:
            self._look()
        held: Counter[str] = Counter()
        for attempt in self.running.values():
            held[attempt.worker] += self._room_of(attempt)
        most = most_at_once(self._at_once, len(self._waiting), len(self._workers))
        free = [worker for worker in self._workers if held[worker] < most]
        in_time = [worker for worker in free if self._has_time(worker)]
        self._too_late = bool(free) and not in_time
        for level in range(most):  # each gets a first one before any gets a second
            for worker in in_time:
                if held[worker] == level and (chosen := self._next_for(worker, idle=level == 0)):
                    self._submit(chosen, worker)
                    held[worker] += self._room_of(chosen)

    def _room_of(self, attempt: _Attempt) -> int:
        """Say how much of a worker's room a chunk takes: all of it, if it is tried again."""
        return 1 if attempt.number == 1 else self._at_once

    def _look(self) -> None:
        """See which workers there are, and take back what lost ones had."""
        self._workers = dict.fromkeys(workers_of(self._client))
        self._looked = time.monotonic()
        self._see_to_presence(bool(self._workers))
        for future, attempt in list(self.running.items()):
            if attempt.worker not in self._workers:
                self._drop(future, LostError(f"worker {attempt.worker} was lost"))
        given = {future: attempt.worker for future, attempt in self.running.items()}
        for future in self._watch.forgotten(given):
            self._drop(future, LostError(f"worker {given[future]} does not have it any more"))

    def _has_time(self, worker: str) -> bool:
        """Tell whether a worker can do another chunk, as far as is known."""
        slowest = max(self._took.values(), default=0.0)
        return self._seconds_left() > self._took.get(worker, slowest) + self._last_words

    def gather(self) -> None:
        """Wait for a chunk to finish, but not long, and take its result and those that came with it."""
        with suppress(queue.Empty):
            finished = [self._finished.get(timeout=_TICK)]
            with suppress(queue.Empty):
                while True:
                    finished.append(self._finished.get_nowait())
            self._take([future for future in finished if future in self.running])  # the others were dropped

    def _take(self, futures: list[Future[Result]]) -> None:
        if any(future.status == "cancelled" for future in futures):
            raise LostError(*CONNECTION_LOST)
        for future in futures:
            if future.status not in ("finished", "error"):  # its worker died before the result was fetched
                self._drop(future, LostError(f"worker {self.running[future].worker} was lost"))
        there = [future for future in futures if future in self.running]
        done = [future for future in there if future.status == "finished"]
        try:
            results = self._client.sync(_gather_within, self._client, done)
        except Exception:  # noqa: BLE001  whose worker died since; the others are to have their results
            self._look()  # what that worker had is tried again
            self._take_singly([future for future in there if future in self.running])
            return
        for future, result in zip(done, results, strict=True):
            self._note(future, result)
        self._take_singly([future for future in there if future in self.running])

    def _take_singly(self, futures: list[Future[Result]]) -> None:
        for future in futures:
            try:
                result = future.result(timeout=_GATHER)
            except Exception as error:  # noqa: BLE001  whatever the work raises; or the worker died since
                self._drop(future, error)
            else:
                self._note(future, result)

    def _note(self, future: Future[Result], result: Result) -> None:
        self.results.append(result)
        attempt = self.running.pop(future)
        self._done += attempt.chunk.rows
        self._took[attempt.worker] = time.monotonic() - attempt.begun

    def cancel(self) -> None:
        """Stop what runs."""
        self._client.cancel(list(self.running), force=True)

    def _submit(self, attempt: _Attempt, worker: str) -> None:
        # For this worker only. Dask would run it elsewhere should the worker die, but not if for a moment
        # there is none at all: so we see to that ourselves.
        work = self._work if self._at_once == 1 else functools.partial(_beside_others, self._work)
        future = self._client.submit(work, attempt.chunk, workers=[worker], pure=False)
        self.running[future] = replace(attempt, worker=worker, begun=time.monotonic())
        future.add_done_callback(self._finished.put)

    def _next_for(self, worker: str, *, idle: bool) -> _Attempt | None:
        """Take the first chunk that has not failed on this worker, or has failed on all there are."""
        for attempt in self._waiting:
            if not idle and attempt.number > 1:
                continue
            if worker not in attempt.failed_on or attempt.failed_on.issuperset(self._workers):
                self._waiting.remove(attempt)
                return attempt
        return None

    def _drop(self, future: Future[Result], error: BaseException) -> None:
        """Give up an attempt: the chunk waits for the next one, if there is one left."""
        attempt = self.running.pop(future)
        future.cancel(force=True)
        cause = attempt.cause or error
        parts = halves(attempt.chunk) if isinstance(error, MemoryError | LostError) else (attempt.chunk,)
        # what needs too much memory is halved until it cannot be; what kills workers must not go on for long
        counts = not isinstance(error, MemoryError) or len(parts) == 1
        if counts and attempt.number == _ATTEMPTS:
            self.failures.append(Failure(chunk=attempt.chunk, cause=cause))
            return
        self._on_retry(Failure(chunk=attempt.chunk, cause=error))
        number = attempt.number + 1 if counts else 2
        failed_on = attempt.failed_on | {attempt.worker}
        for part in parts:
            self._waiting.append(
                replace(attempt, chunk=part, number=number, failed_on=failed_on, cause=cause)
            )

    def _see_to_presence(self, present: bool) -> None:
        now = time.monotonic()
        if present:
            self._last_seen = now
        elif now - self._last_seen > _PATIENCE:
            raise LostError(f"there has been no worker for {_PATIENCE:.0f} s", "see the workers' logs")


def _beside_others(work: Callable[[Chunk], Result], chunk: Chunk) -> Result:
    """On a worker: do a chunk, and let the worker begin the next one meanwhile, though it has one thread."""
    secede()
    return work(chunk)


async def _gather_within(client: Client, futures: list[Future[Result]]) -> list[Result]:
    gathering = client.gather(futures, asynchronous=True)
    return list(await asyncio.wait_for(gathering, _GATHER))
