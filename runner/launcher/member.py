"""One rank at work: it does what rank 0 says, reports what happens to its processes, and stops with it.

Every rank is a member, rank 0 too (it talks to its leader through a local connection).
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runner.launcher.channel import Channel, Message
from runner.launcher.crew import Child, Crew
from runner.launcher.deaths import MemoryWatch, last_words
from runner.launcher.exits import LOST, describe
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.program import Program
from runner.launcher.roles import Duty, WorkerPlan
from runner.launcher.security import Credentials
from runner.launcher.speak import say
from runner.launcher.specs import Specs
from runner.listing import few
from runner.node.scratch import make_scratch, scratch_root, sweep_scratch

_LAST_NEWS_SECONDS = 0.1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_LOG = logging.getLogger(__name__)


class Member:
    """One rank at work.

    Parameters
    ----------
    facts : RankFacts
        Who this is.
    crew : Crew
        The rank's processes.
    channel : Channel
        To rank 0.
    credentials : Credentials or None
        The job's, for Dask's connections.
    program : Program
        What the client runs.
    options : LaunchOptions
        The same on every rank.
    environ : mapping
        The environment that the rank was started with.
    logs : Path or None
        A folder that keeps the logs of its processes.
    last_warning : int or None
        A signal that stands for the batch system's SIGTERM.
    """

    def __init__(
        self,
        *,
        facts: RankFacts,
        crew: Crew,
        channel: Channel,
        credentials: Credentials | None,
        program: Program,
        options: LaunchOptions,
        environ: Mapping[str, str],
        logs: Path | None,
        last_warning: int | None = None,
    ) -> None:
        self._facts = facts
        self._crew = crew
        self._channel = channel
        self._options = options
        self._last_warning = last_warning
        self._scratch_root = scratch_root(environ, options.scratch)
        sweep_scratch(self._scratch_root)
        self._scratch = make_scratch(self._scratch_root, f"{facts.rank}")
        self._specs = Specs(
            facts=facts,
            program=program,
            options=options,
            environ=environ,
            credentials=credentials,
            scratch=self._scratch,
            logs=logs or self._scratch,
        )
        self._scheduler: Child | None = None
        self._client: Child | None = None
        self._watchers: set[asyncio.Task[None]] = set()
        self._keepers: set[asyncio.Task[None]] = set()
        self._restarts_left = options.restarts
        self._stopping = False

    async def serve(self) -> int:
        """Do what rank 0 says until it says goodbye; return this rank's exit code.

        The job's exit code is rank 0's alone: another rank that did its part ends with 0, lest a
        launcher takes its end for a failure of its own.
        """
        for number in _ENDING:
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, number, number)
        if self._last_warning is not None:
            told = (self._last_warning, signal.SIGTERM)
            asyncio.get_running_loop().add_signal_handler(self._last_warning, self._signalled, *told)
        lost = {"event": "lost", "how": "the parent of its processes ended"}
        self._crew.watch(lost=lambda: self._channel.send(lost))
        self._watch(self._say_alive())
        await self._crew.bequeath(self._scratch)
        try:
            return await self._obey_until_goodbye()
        finally:
            await self._crew.kill()
            shutil.rmtree(self._scratch, ignore_errors=True)
            sweep_scratch(self._scratch_root)

    async def _obey_until_goodbye(self) -> int:
        limit = self._options.silence_timeout
        why = "its connection ended"
        try:
            while (order := await self._channel.receive_within(limit)) is not None:
                if order["op"] == "goodbye":
                    return 0
                if order["op"] not in ("welcome", "alive"):
                    _LOG.info("rank 0 says: %s", order["op"])
                await self._obey(order)
        except TimeoutError:
            why = f"no word from it for {limit:.0f} s"
        if not self._stopping:
            say(f"rank {self._facts.rank} @ {self._facts.host}", f"rank 0 is lost ({why}), this rank stops")
        return LOST

    async def _say_alive(self) -> None:
        while True:
            self._channel.send({"event": "alive"})
            await asyncio.sleep(self._options.silence_timeout / 4)

    async def _obey(self, order: Message) -> None:
        match order["op"]:
            case "schedule":
                self._scheduler = await self._start("scheduler", "scheduler", self._specs.scheduler(order))
            case "serve":
                self._specs = replace(self._specs, walltime=order["walltime"])
                duty = Duty.from_message(order["duty"])
                for plan in duty.workers:
                    await self._start_worker(plan, order["scheduler"], order["host"])
                if duty.client:
                    self._client = await self._start("client", "client", self._specs.client(order))
            case "run":
                for child in filter(None, (self._scheduler, self._client)):
                    child.channel.send({"op": "run"})
            case "forget" | "report" if self._scheduler is not None:
                self._scheduler.channel.send(order)
            case "signal" if self._client is not None:
                self._client.signal(order["number"])
            case "stop":
                await self._stop()

    async def _stop(self) -> None:
        self._stopping = True
        left = await self._crew.stop(self._options.stop_timeout)
        if left and self._client is not None:
            say("runner", f"the job left processes behind, which end with it: {few(left)}")
        if self._keepers:  # a death that we hear of now may be why the job ended
            await asyncio.wait(self._keepers, timeout=_LAST_NEWS_SECONDS)
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._channel.send({"event": "down"})

    async def _start(self, kind: str, name: str, spec: Mapping[str, Any]) -> Child:
        child = await self._crew.start(kind, name, spec)
        self._watch(self._report(child))
        return child

    async def _start_worker(self, plan: WorkerPlan, scheduler: str, host: str | None, again: int = 0) -> None:
        name = f"{plan.name}.{again}" if again else plan.name
        own = host or self._channel.local_address
        spec = self._specs.worker(plan, name=name, scheduler=scheduler, host=own)
        child = await self._crew.start("worker", f"worker-{name}", spec)
        keeper = self._watch(self._keep_alive(child, plan, scheduler, host, again))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)

    def _watch(self, watcher: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(watcher)
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)
        return task

    async def _report(self, child: Child, **more: Any) -> int:
        """Tell rank 0 when a process is ready and how it ends."""
        while (message := await child.channel.receive()) is not None:
            if message["event"] == "ready":
                _LOG.info("%s is ready, process %s", child.name, child.pid)
            self._channel.send({**message, "kind": child.kind, "name": child.name, "pid": child.pid, **more})
        code = await child.ended
        _LOG.info("%s, process %s, %s", child.name, child.pid, describe(code))
        if child.kind != "worker" and not self._stopping:
            log = last_words(self._specs.log_file(child.name))
            self._channel.send({"event": "ended", "kind": child.kind, "code": code, "log": log})
        return code

    async def _keep_alive(
        self, child: Child, plan: WorkerPlan, scheduler: str, host: str | None, again: int
    ) -> None:
        """Report a worker, and replace it when it dies."""
        memory = MemoryWatch(child, plan.memory)
        self._watch(memory.watch())
        code = await self._report(child, plan=plan.name)
        if self._stopping and code <= 128:
            return
        replaced = self._restarts_left > 0 and not self._stopping
        self._channel.send(
            {
                "event": "worker died",
                "plan": plan.name,
                "how": memory.describe(code),
                "replaced": replaced,
                "stopping": self._stopping,
                "log": last_words(self._specs.log_file(child.name)),
            }
        )
        if replaced:
            self._restarts_left -= 1
            await self._start_worker(plan, scheduler, host, again + 1)

    def _signalled(self, came: int, counts_as: int) -> None:
        # Rank 0 decides for all; the batch system sends the signal to every rank at about the same time.
        self._channel.send({"event": "signal", "name": signal.Signals(came).name, "number": counts_as})
