"""The scheduler's process: Dask's scheduler, until the supervisor says stop."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler

from runner.launcher.channel import Channel
from runner.launcher.child import dask_name, log_to
from runner.launcher.counting import tell_tasks
from runner.launcher.report import Report
from runner.node.net import LOOPBACK, as_host

_DASHBOARD_AFTER_SECONDS = 2.0
_WORKERS_LEAVE_SECONDS = 0.5


def run(connected: socket.socket, spec: dict[str, Any]) -> int:
    """Run the scheduler.

    Parameters
    ----------
    connected : socket
        To the supervisor. Says ``ready`` with the scheduler's address and its dashboard's port.
    spec : dict
        ``host`` and ``port`` to listen on, ``dashboard_port`` on loopback, ``log`` file and ``screen`` (see
        ``log_to``), ``dask`` settings, whether to ``encrypt``, ``dashboard``, the job's ``program``, whether
        a ``report`` is wanted, ``import_folder``
        (the scheduler unpacks graphs, and with them references to the job's modules).
    """
    log_to(spec["log"], spec["screen"])
    sys.path[0] = spec["import_folder"]
    with dask.config.set(spec["dask"]):
        asyncio.run(_serve(connected, spec))
    return 0


async def _serve(connected: socket.socket, spec: dict[str, Any]) -> None:
    channel = await Channel.over(connected)
    drawable = spec["dashboard"] and importlib.util.find_spec("bokeh") is not None
    async with Scheduler(
        host=as_host(spec["host"]),
        port=spec["port"],
        protocol="tls" if spec["encrypt"] else "tcp",
        dashboard=False,  # see _draw_dashboard
        dashboard_address=f"{LOOPBACK}:{spec['dashboard_port']}",  # or any free one
    ) as scheduler:
        scheduler.handlers["terminate"] = _note_shutdown_of(scheduler)
        port = scheduler.http_server.port if drawable else None
        channel.send({"event": "ready", "address": scheduler.address, "dashboard": port})
        report = Report(scheduler, spec["program"]) if spec["report"] else None
        telling = asyncio.create_task(tell_tasks(scheduler, channel))
        drawing = None
        while (message := await channel.receive()) is not None and message["op"] != "stop":
            if message["op"] == "run" and drawable:
                drawing = asyncio.create_task(_draw_dashboard(scheduler))
            if message["op"] == "report" and report is not None:
                channel.send(await report.write(Path(message["file"])))
            if message["op"] == "forget":
                await _forget_workers(scheduler, message["workers"])
        telling.cancel()
        if drawing is not None:
            drawing.cancel()
        await _dismiss_workers(scheduler)


def _note_shutdown_of(scheduler: Scheduler) -> Callable[[], Awaitable[None]]:
    """Return what ``Client.shutdown()`` comes to: a note for the job, with whose end the cluster ends."""

    async def note() -> None:
        scheduler.log_event("shutdown-asked", {})

    return note


async def _forget_workers(scheduler: Scheduler, names: list[str]) -> None:
    """Run elsewhere what workers had that are lost with their machine, before their connections time out."""
    for name in names:
        address = scheduler.aliases.get(dask_name(name))
        if address is not None:
            await scheduler.remove_worker(address, stimulus_id="rank-lost", close=False)


async def _draw_dashboard(scheduler: Scheduler) -> None:
    """Add the dashboard's pages to the scheduler's server.

    Its libraries take as long to import as all of Dask. Neither the workers nor a short job need to wait for
    them, so they come when the job has run for a moment, in a thread.
    """
    await asyncio.sleep(_DASHBOARD_AFTER_SECONDS)
    pages = await asyncio.to_thread(importlib.import_module, "distributed.dashboard.scheduler")
    pages.connect(scheduler.http_application, scheduler.http_server, scheduler)


async def _dismiss_workers(scheduler: Scheduler) -> None:
    """Close all workers without waiting for the tasks that they still run.

    ``Scheduler.close`` alone lets every worker finish its running task first, and closes the streams
    before the workers have answered.
    """
    for stream in list(scheduler.stream_comms.values()):
        stream.send({"op": "close", "reason": "the job is over", "executor_wait": False})
    end = asyncio.get_running_loop().time() + _WORKERS_LEAVE_SECONDS
    while scheduler.workers and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.005)
