"""A run of a map on a Dask cluster: components are handed out, and each is followed to its end."""

from __future__ import annotations

import itertools
import queue
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from distributed import Client, Future, get_worker
from distributed.scheduler import KilledWorker

from runner.errors import LostError, RunnerError, StartError, WriteError
from runner.forgotten import Watch
from runner.maps.component import Outcome, Work, run_bunch
from runner.maps.elsewhere import describe_from_afar
from runner.maps.failures import write_failure
from runner.maps.layout import Layout
from runner.maps.plan import LAST_WORDS, Durations, Waiting, ahead, bunch_size, slots_of, until
from runner.maps.record import Component, MapRecord
from runner.maps.runs import Heart
from runner.workers import CONNECTION_LOST, workers_of

_TICK = 0.5  # between two looks at the workers, seconds
_PATIENCE = 60.0  # without any worker, seconds: a launcher or a nanny replaces a lost one in far less

OnProgress = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class _Bunch:
    """What a worker has been given."""

    number: int
    components: tuple[Component, ...]
    worker: str
    slots: int  # of the worker: so many bunches run there at a time
    began: float = field(default_factory=time.time)
    suspect: bool = False


class Drive:
    """Hands the components of a map out to workers, until none waits or there is no time for another.

    Parameters
    ----------
    client : Client
        Of any cluster; workers may come and go.
    layout, record : Layout, MapRecord
        The map.
    work : Work
        What a worker needs to know of it.
    components : sequence of Component
        What is to be done, in this order.
    heart : Heart
        Of our run.
    seconds_left : callable
        Until the job is stopped.
    on_progress : callable
        Told how many are done and how many failed, of this run.
    """

    def __init__(
        self,
        client: Client,
        layout: Layout,
        record: MapRecord,
        *,
        work: Work,
        components: list[Component],
        heart: Heart,
        seconds_left: Callable[[], float],
        on_progress: OnProgress,
    ) -> None:
        self._heart = heart
        self._client = client
        self._layout = layout
        self._record = record
        self._work = work
        self._waiting = Waiting(components)
        self._seconds_left = seconds_left
        self._on_progress = on_progress
        self._running: dict[Future[None], _Bunch] = {}
        self._numbers = itertools.count()
        self._told: dict[int, list[Outcome]] = {}  # by the number of the bunch, until it has finished
        self._topic = f"runner-map-{layout.folder.name}-{heart.run.process}-{heart.run.number}"
        self._finished: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        self._durations = Durations()
        self._slots: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._stop = False  # hand out nothing more
        self._problem: RunnerError | None = None
        self._watch = Watch(client)
        self._looked = self._last_seen = time.monotonic() - _TICK

    def to_the_end(self) -> int:
        """Work until all is done or the time is over; return how many components are left.

        Raises
        ------
        WriteError
            If results cannot be written.
        StartError
            If the function cannot be loaded on a worker, or no worker has what components need.
        LostError
            If the cluster is lost, or another process took the map over.
        """
        self._client.subscribe_topic(self._topic, self._note)
        try:
            while True:
                self._hand_out()
                if not self._running and (self._stop or self._too_late() or not len(self._waiting)):
                    break
                if self._seconds_left() < LAST_WORDS:
                    self._cut()
                    break
                self._gather()
                self._tell()
        finally:
            with suppress(Exception):  # the cluster may be gone
                self._client.unsubscribe_topic(self._topic)
                self._client.cancel(list(self._running), force=True)
        if self._problem is not None:
            raise self._problem
        return len(self._waiting) + sum(len(bunch.components) for bunch in self._running.values())

    def _hand_out(self) -> None:
        """Take back what lost workers had, and give every idle worker something to do."""
        if time.monotonic() - self._looked >= _TICK:
            self._look()
        if self._stop or self._too_late():
            return
        load = Counter(bunch.worker for bunch in self._running.values())
        occupied = {bunch.worker for bunch in self._running.values() if bunch.suspect}
        all_slots = sum(self._slots.values())
        for worker, slots in self._slots.items():
            if worker in occupied:
                continue
            if load[worker] == 0 and (suspect := self._waiting.take_suspect()):
                self._submit((suspect,), worker, suspect=True)
                continue
            mean = self._durations.mean
            for _ in range(slots + ahead(mean, slots) - load[worker]):
                left = self._waiting.left
                if components := self._waiting.take(bunch_size(mean, left, all_slots, self._record.chunk)):
                    self._submit(components, worker)

    def _submit(self, components: tuple[Component, ...], worker: str, *, suspect: bool = False) -> None:
        number = next(self._numbers)
        latest = until(self._seconds_left(), self._durations.long, time.time())
        # For this worker only: should it die, we see to what it had, by the files that it left.
        future = self._client.submit(
            _run_and_tell,
            self._topic,
            number,
            self._work,
            components,
            latest,
            self._names[worker],
            workers=[worker],
            resources=self._record.resources,
            pure=False,
        )
        self._running[future] = _Bunch(
            number=number,
            components=components,
            worker=worker,
            slots=self._slots[worker],
            suspect=suspect,
        )
        future.add_done_callback(self._finished.put)

    def _note(self, event: tuple[float, dict[str, Any]]) -> None:
        """Take down what a bunch tells; called in the client's own thread."""
        _, told = event
        self._told[told["bunch"]] = [Outcome(**outcome) for outcome in told["outcomes"]]

    def _gather(self) -> None:
        """Wait for bunches to finish, but not long, and take what they told."""
        with suppress(queue.Empty):
            finished = [self._finished.get(timeout=_TICK)]
            with suppress(queue.Empty):
                while True:
                    finished.append(self._finished.get_nowait())
            if self._client.status != "running":
                raise LostError(*CONNECTION_LOST)
            for future in finished:
                if future in self._running:  # others were given up with their worker
                    self._hear(future)

    def _hear(self, future: Future[None]) -> None:
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                self._worker_died(self._running[future].worker)
                return
            if not isinstance(error, RunnerError):
                raise LostError(f"a worker cannot run components ({error})") from error
            self._give_up(error)
        self._end(future)

    def _end(self, future: Future[None]) -> None:
        """Take what a bunch told that has ended; if that was not heard, what it left."""
        bunch = self._running.pop(future)
        outcomes = self._told.pop(bunch.number, None)
        self._take(bunch, self._from_the_folder(bunch) if outcomes is None else outcomes)

    def _take(self, bunch: _Bunch, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.state == "unwritten":
                where = f"{self._layout.results} ({outcome.problem})"
                self._give_up(
                    WriteError(
                        f"results cannot be written to {where}", "see to the space and the rights there"
                    )
                )
                continue
            self._durations.add(outcome.seconds)
            self._count(failed=outcome.state == "failed")
        ended = {outcome.key for outcome in outcomes if outcome.state != "unwritten"}
        self._waiting.put_back([one for one in bunch.components if one.key not in ended])

    def _count(self, *, failed: bool) -> None:
        run = self._heart.run
        self._heart.run = replace(run, done=run.done + (not failed), failed=run.failed + failed)
        self._stop |= failed and self._record.on_error == "stop"

    def _give_up(self, error: RunnerError) -> None:
        self._stop = True
        self._problem = self._problem or error

    def _look(self) -> None:
        """See which workers there are, and take back what lost ones had."""
        now = self._looked = time.monotonic()
        workers = workers_of(self._client)
        slots = {address: slots_of(about, self._record.resources) for address, about in workers.items()}
        self._slots = {address: number for address, number in slots.items() if number > 0}
        self._names |= {address: str(about["name"]) for address, about in workers.items()}
        for worker in {bunch.worker for bunch in self._running.values()} - workers.keys():
            self._worker_died(worker)
        for future in self._watch.forgotten({one: bunch.worker for one, bunch in self._running.items()}):
            future.cancel(force=True)
            self._end(future)
        if self._slots:
            self._last_seen = now
        elif workers and self._record.resources:
            raise StartError(
                f"no worker has what a component needs: {self._record.resources}", "see the job's GPUs"
            )
        elif now - self._last_seen > _PATIENCE:
            raise LostError(f"there has been no worker for {_PATIENCE:.0f} s", "see the workers' logs")

    def _worker_died(self, worker: str) -> None:
        """Find out from the folder what a dead worker had done, and what it ran when it died."""
        lost = [future for future, bunch in self._running.items() if bunch.worker == worker]
        ran = 0
        for future in lost:  # in the order in which the worker has begun them
            bunch = self._running.pop(future)
            future.cancel(force=True)
            done, failed = self._ended(bunch)
            for key in (*done, *failed):
                self._count(failed=key in failed)
            left = [one for one in bunch.components if one.key not in {*done, *failed}]
            running = left[:1] if ran < bunch.slots else []
            ran += len(running)
            self._waiting.put_back(left[len(running) :])
            for component in running:
                if self._waiting.died_with(component, alone=bunch.slots == 1 or len(lost) == 1):
                    self._call_failed(component, bunch)

    def _from_the_folder(self, bunch: _Bunch) -> list[Outcome]:
        """Return what a worker would have told that did its work and died then."""
        done, failed = self._ended(bunch)
        return [
            *(Outcome(key=key, state="done") for key in done),
            *(Outcome(key=key, state="failed") for key in failed),
        ]

    def _ended(self, bunch: _Bunch) -> tuple[list[str], list[str]]:
        """Return the keys of a bunch that have a value, and those that have a failure."""
        keys = [component.key for component in bunch.components]
        done = [key for key in keys if self._layout.result(key).exists()]
        return done, [key for key in keys if key not in done and self._layout.failure(key).exists()]

    def _call_failed(self, component: Component, bunch: _Bunch) -> None:
        failure = describe_from_afar(
            self._work,
            component,
            "its worker process died twice while it ran this and nothing else: see the job's output",
            seconds=time.time() - bunch.began,
            worker=f"{self._names[bunch.worker]} at {bunch.worker}",
        )
        try:
            write_failure(self._layout, failure)
        except OSError as error:
            self._give_up(WriteError(f"results cannot be written to {self._layout.results} ({error})"))
        self._count(failed=True)

    def _too_late(self) -> bool:
        """Tell whether the time left is less than most components take."""
        return self._seconds_left() < self._durations.long + LAST_WORDS

    def _cut(self) -> None:
        """Note what the end of the time interrupts, and how long that has had."""
        now = time.time()
        alone = [bunch for bunch in self._running.values() if len(bunch.components) == 1]
        cut = {bunch.components[0].key: now - bunch.began for bunch in alone}
        self._heart.run = replace(self._heart.run, cut=cut)

    def _tell(self) -> None:
        self._on_progress(self._heart.run.done, self._heart.run.failed)
        running = {bunch.components[0].key: bunch.began for bunch in self._running.values()}
        self._heart.run = replace(self._heart.run, running=running, workers=len(self._slots))
        self._heart.check()


def _run_and_tell(topic: str, number: int, *work: Any) -> None:
    """Run a bunch on a worker, and tell the client how it went.

    The outcomes go as an event, with the scheduler's word that the task is finished: as its result they would
    lie in the worker's memory until somebody asks, and die with the next component that kills the worker.
    """
    outcomes = run_bunch(*work)
    get_worker().log_event(topic, {"bunch": number, "outcomes": [asdict(outcome) for outcome in outcomes]})
