"""Rank 0 leads: it takes the ranks in, gives out the roles, starts the job, and ends everything with it."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.errors import PartialError, RunnerError, StartError
from runner.launcher.control import Event, Hub
from runner.launcher.deadline import Deadline
from runner.launcher.exits import LOST, describe
from runner.launcher.notes import before_start
from runner.launcher.options import LaunchOptions
from runner.launcher.roles import Duty, assign, assign_late
from runner.launcher.speak import say
from runner.launcher.state import NO_REPORT_YET, EndedError, State
from runner.launcher.walltime import Walltime, wait_for

_SILENCE_SECONDS = 5.0  # after this a wait says what it waits for, and again at longer intervals
_PASS_ON_SECONDS = (
    0.5  # a batch system, or a terminal, signals the job's process itself; else we do after this
)
_END_GRACE_SECONDS = 2.5  # the same where the time is over
_REPORT_SECONDS = 30.0  # for Dask's performance report, where one is wanted and no signal presses
_DOWN_SECONDS = 3.0  # beyond the stop timeout, for ranks to report that they are down


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What is up when the job starts."""

    duties: tuple[Duty, ...]
    address: str
    dashboard: int | None


class Leader:
    """The life of the cluster as rank 0 sees it.

    Parameters
    ----------
    size : int
        How many ranks there should be.
    hub : Hub
        The ranks' connections.
    options : LaunchOptions
        The same on every rank.
    choose_host : callable
        Returns the address for the scheduler to listen on, once the ranks are there.
    announce : coroutine function
        Called with the cluster just before the job starts.
    walltime : Walltime or None
        When the job ends, if it does not end by itself.
    observe : callable
        Called with every event, the leader's own included (see ``record``).
    """

    def __init__(
        self,
        *,
        size: int,
        hub: Hub,
        options: LaunchOptions,
        choose_host: Callable[[], str],
        announce: Callable[[Cluster], Awaitable[None]],
        walltime: Walltime | None = None,
        observe: Callable[[Event], None] = lambda _event: None,
    ) -> None:
        self._size = size
        self._hub = hub
        self._options = options
        self._choose_host = choose_host
        self._announce = announce
        self._walltime = walltime
        self._observe = observe
        self._state = State()

    async def lead(self) -> int:
        """Run the job and return its exit code."""
        number, grace, why = 0, 0.0, ""
        watches = [asyncio.create_task(self._pulse()), asyncio.create_task(self._watch_clock())]
        try:
            await self._run()
        except EndedError as end:
            code, number, grace = end.code, end.signal, end.grace
        except RunnerError as error:
            say("runner", str(error))
            code, why = error.exit_code, str(error)
        self._observe(Event(0, {"event": "stopping", "code": code, "why": why}))
        await self._stop(number, grace)
        for watch in watches:
            watch.cancel()
        return code

    @property
    def missing(self) -> bool:
        """Whether a rank was lost, or never came: at the end, its launcher may still wait for it."""
        return len(self._state.down) < self._size

    # -- start --------------------------------------------------------------------------------------

    async def _run(self) -> None:
        await self._take_in(Deadline(self._options.start_timeout))
        deadline = Deadline(self._options.start_timeout)
        facts = [self._hub.facts[rank] for rank in sorted(self._hub.channels)]
        duties = assign(facts, self._options)
        for line in [] if self._options.quiet else before_start(facts, duties):
            say("runner", line)
        self._state.host = self._choose_host()
        scheduler = await self._start_scheduler(self._state.host, deadline)
        for duty in duties:
            self._give(duty, scheduler["address"])
        await self._wait_for_workers(deadline)
        found = Cluster(duties=duties, address=scheduler["address"], dashboard=scheduler["dashboard"])
        await self._announce(found)
        self._hub.broadcast({"op": "run"})
        while True:
            await self._next()

    def _give(self, duty: Duty, scheduler: str) -> None:
        """Give a rank its duty."""
        self._state.duties[duty.rank] = duty
        self._observe(Event(duty.rank, {"event": "duty", "duty": duty.to_message()}))
        self._state.wanted |= {plan.name: duty.rank for plan in duty.workers}
        # where a rank's workers listen: on rank 0 beside the scheduler, elsewhere where they reached rank 0
        host = self._state.host if duty.rank == 0 else None
        message = {"op": "serve", "duty": duty.to_message(), "scheduler": scheduler, "host": host}
        self._hub.send(duty.rank, {**message, "walltime": self._walltime.variables if self._walltime else {}})

    async def _pulse(self) -> None:
        """Say to all ranks that this one is alive, and drop those that do not say so."""
        limit = self._options.silence_timeout
        while True:
            self._hub.broadcast({"op": "alive"})
            slept_at = time.monotonic()
            await asyncio.sleep(limit / 4)
            if time.monotonic() - slept_at > limit / 2:
                continue  # this process itself was stopped (Ctrl-Z): what the others said waits to be read
            for rank in self._hub.silent(limit):
                self._hub.drop(rank, f"no word from it for {limit:.0f} s, its machine hangs or is cut off")

    async def _watch_clock(self) -> None:
        """Report the end of the time as an event like the others."""
        if self._walltime is not None:
            await wait_for(self._walltime)
            self._hub.events.put_nowait(Event(0, {"event": "walltime", "reason": self._walltime.reason}))

    async def _take_in(self, deadline: Deadline) -> None:
        def missing() -> str:
            absent = sorted(set(range(self._size)) - set(self._hub.facts))
            return f"{len(absent)} of {self._size} ranks: {_ranges(absent)}"

        if await self._until(lambda: len(self._hub.facts) == self._size, deadline, missing):
            return
        enough = self._options.min_workers
        if enough is None or len(self._hub.channels) * (self._options.workers or 1) < enough:
            raise StartError(
                f"{missing()} did not arrive within {self._options.start_timeout:.0f} s",
                "see their hosts' logs, raise --start-timeout, or start with fewer by --min-workers",
            )
        say("runner", f"starting without {missing()}; they may still join")

    async def _start_scheduler(self, host: str, deadline: Deadline) -> dict[str, Any]:
        self._hub.send(0, {"op": "schedule", "host": host, "dashboard": self._options.dashboard})
        await self._until(lambda: self._state.scheduler is not None, deadline, lambda: "the scheduler")
        if self._state.scheduler is None:
            raise StartError(f"the scheduler did not start within {self._options.start_timeout:.0f} s")
        return self._state.scheduler

    async def _wait_for_workers(self, deadline: Deadline) -> None:
        state = self._state

        def missing() -> str:
            absent = [
                f"{name} @ {self._host(state.wanted[name])}"
                for name in state.wanted.keys() - state.serving.keys()
            ]
            return "worker " + ", ".join(sorted(absent)) if absent else "the client"

        def complete() -> bool:
            return state.client_ready and state.serving.keys() >= state.wanted.keys()

        if await self._until(complete, deadline, missing):
            return
        enough = self._options.min_workers
        if not state.client_ready or enough is None or len(state.serving) < enough:
            raise StartError(
                f"{missing()} did not start within {self._options.start_timeout:.0f} s",
                "raise --start-timeout, or start with fewer by --min-workers",
            )

    async def _until(
        self, reached: Callable[[], bool], deadline: Deadline, waiting_for: Callable[[], str]
    ) -> bool:
        """Handle events until something is reached; tell what is waited for when it takes long."""
        silence = _SILENCE_SECONDS
        quiet = Deadline(silence)
        while not reached():
            if deadline.over:
                return False
            try:
                await asyncio.wait_for(self._next(), timeout=min(quiet.left, deadline.left))
            except TimeoutError:
                if quiet.over and not deadline.over:
                    say("runner", f"waiting for {waiting_for()} ({deadline.left:.0f} s left)")
                    silence = min(2 * silence, 60.0)
                    quiet = Deadline(silence)
        return True

    # -- events -------------------------------------------------------------------------------------

    async def _next(self) -> None:
        event = await self._hub.events.get()
        if event.message["event"] == "displaced":  # by another rank 0, see rival.py
            raise StartError(event.message["problem"])
        self._handle(event)

    def _handle(self, event: Event) -> None:
        """Take note of one event.

        Raises
        ------
        EndedError
            If it ends the job.
        """
        self._observe(event)
        match event.message:
            case {"event": "ready"} as ready:
                self._ready(ready)
            case {"event": "hello"}:
                self._arrived(event.rank)
            case {"event": "worker died"} as death:
                self._worker_died(event.rank, death)
                self._check_enough()
            case {"event": "ended", "kind": "client", "code": code}:
                self._state.client_ended = True
                raise EndedError(code)
            case {"event": "ended", "kind": kind, "code": code, "log": log}:
                self._state.scheduler = None
                self._say_about(event.rank, kind, f"{describe(code)}; the job cannot go on without it", log)
                raise EndedError(LOST)
            case {"event": "signal", "name": name, "number": number}:
                say("runner", f"{name} received by rank {event.rank}, stopping")
                raise EndedError(128 + number, number)
            case {"event": "walltime", "reason": reason}:
                say("runner", f"stopped by the walltime: {reason}")
                raise EndedError(PartialError.exit_code, signal.SIGTERM, _END_GRACE_SECONDS)
            case {"event": "lost", "how": how}:
                self._rank_lost(event.rank, f"lost: {how}")
            case {"event": "down"}:
                self._state.down.add(event.rank)

    def _ready(self, ready: dict[str, Any]) -> None:
        match ready["kind"]:
            case "scheduler":
                self._state.scheduler = ready
            case "client":
                self._state.client_ready = True
            case "worker":
                self._state.serving[ready["plan"]] = ready["name"].removeprefix("worker-")

    def _worker_died(self, rank: int, death: dict[str, Any]) -> None:
        plan, replaced = death["plan"], death["replaced"]
        self._state.serving.pop(plan, None)
        if not replaced:
            self._state.wanted.pop(plan, None)
        again = f"not started again after {self._options.restarts} deaths"
        outcome = "the job was over" if death["stopping"] else "started again" if replaced else again
        self._say_about(rank, f"worker {plan}", f"{death['how']}; {outcome}", death["log"])

    def _rank_lost(self, rank: int, how: str) -> None:
        if rank in self._state.down:
            return
        duty = self._state.duties.get(rank)
        self._say_about(rank, "", how, [])
        if duty is None or duty.client or duty.scheduler:
            raise EndedError(LOST)
        for plan in duty.workers:
            self._state.wanted.pop(plan.name, None)
        lost = [self._state.serving.pop(plan.name, None) for plan in duty.workers]
        self._hub.send(0, {"op": "forget", "workers": [name for name in lost if name is not None]})
        self._check_enough()

    def _arrived(self, rank: int) -> None:
        """Let a rank work that comes when the roles are given already."""
        if self._state.scheduler is None or rank in self._state.duties:
            return
        present = [self._hub.facts[other] for other in self._hub.channels if other != rank]
        self._say_about(rank, "", "arrived late, works now", [])
        duty = assign_late(self._hub.facts[rank], present, self._options)
        self._give(duty, self._state.scheduler["address"])

    def _check_enough(self) -> None:
        needed = self._options.min_workers or 1
        if len(self._state.wanted) < needed:
            say("runner", f"{len(self._state.wanted)} workers are left, the job needs {needed}")
            raise EndedError(LOST)

    def _host(self, rank: int) -> str:
        return self._hub.facts[rank].host

    def _say_about(self, rank: int, role: str, text: str, log: list[str]) -> None:
        indented = "".join(f"\n    {line}" for line in log)
        say(f"rank {rank} @ {self._host(rank)} {role}".rstrip(), text + indented)

    # -- stop ---------------------------------------------------------------------------------------

    async def _stop(self, number: int, grace: float) -> None:
        """End everything: the job first, if a signal came, then all processes, then the ranks."""
        state = self._state
        client = next((duty.rank for duty in state.duties.values() if duty.client), None)
        if number and state.client_ready and client is not None:
            if not await self._settle(lambda: state.client_ended, _PASS_ON_SECONDS):
                self._hub.send(client, {"op": "signal", "number": number})
            await self._settle(lambda: state.client_ended, grace)
        if self._options.report is not None and state.scheduler is not None:
            await self._save_report(self._options.report, grace if number else _REPORT_SECONDS)
        self._hub.broadcast({"op": "stop"})
        everybody = self._options.stop_timeout + _DOWN_SECONDS
        if not await self._settle(lambda: state.down >= set(self._hub.channels), everybody):
            late = sorted(set(self._hub.channels) - state.down)
            say("runner", f"rank {_ranges(late)} did not stop in time")
        self._hub.broadcast({"op": "goodbye"})
        await self._settle(lambda: set(self._hub.channels) <= {0}, 1.0)

    async def _save_report(self, path: Path, seconds: float) -> None:
        """Have Dask's performance report written, which needs the workers."""
        state = self._state
        self._hub.send(0, {"op": "report", "file": str(path.absolute())})
        await self._settle(lambda: state.report_problem != NO_REPORT_YET, seconds)
        if state.report_problem:
            say("runner", f"no report was written to {path}: {state.report_problem}")

    async def _settle(self, reached: Callable[[], bool], seconds: float) -> bool:
        """Wait for something while nothing that happens can change the outcome any more."""
        deadline = Deadline(seconds)
        while not reached():
            if deadline.over:
                return False
            try:
                event = await asyncio.wait_for(self._hub.events.get(), timeout=deadline.left)
            except TimeoutError:
                return False
            self._observe(event)
            match event.message:
                case {"event": "down"}:
                    self._state.down.add(event.rank)
                case {"event": "worker died"} as death:  # it may be why the job failed
                    self._worker_died(event.rank, death)
                case {"event": "ended", "kind": "client"}:
                    self._state.client_ended = True
                case {"event": "ended"}:
                    self._state.report_problem = "the scheduler died"
                case {"event": "report", "problem": problem}:
                    self._state.report_problem = problem
        return True


def _ranges(numbers: list[int]) -> str:
    """Write sorted numbers short.

    >>> _ranges([1, 2, 3, 7])
    '1-3, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][-1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
