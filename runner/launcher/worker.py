"""A worker's process: Dask's worker, with one GPU or none, its share of memory and a local folder."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import dask
from distributed import Worker

from runner.launcher.channel import Channel
from runner.launcher.child import dask_name, first_of, log_to, set_environment, told_to_stop
from runner.node.net import as_host

_SCHEDULER_CLOSES_SECONDS = 0.3


def run(connected: socket.socket, spec: dict[str, Any]) -> int:
    """Run a worker until the scheduler or the supervisor ends it.

    Parameters
    ----------
    connected : socket
        To the supervisor. Says ``ready`` when the scheduler knows the worker.
    spec : dict
        ``name``, ``scheduler`` address, ``host`` to listen on, ``threads``, ``memory`` in bytes,
        ``resources``, ``folder`` for spilled data, ``import_folder``, ``log`` file and ``screen`` (see
        ``log_to``), ``environment``, ``dask`` settings, ``start_timeout`` in seconds.
    """
    log_to(spec["log"], spec["screen"])
    set_environment(spec["environment"])
    sys.path[0] = spec["import_folder"]
    sys.stdin = open("/dev/null")  # noqa: SIM115, PTH123 - standard input is the job's, not a task's
    with dask.config.set(spec["dask"]):
        asyncio.run(_serve(connected, spec))
    return 0


async def _serve(connected: socket.socket, spec: dict[str, Any]) -> None:
    channel = await Channel.over(connected)
    async with Worker(
        spec["scheduler"],
        name=dask_name(spec["name"]),
        host=as_host(spec["host"]),
        nthreads=spec["threads"],
        memory_limit=spec["memory"],
        resources=spec["resources"],
        local_directory=spec["folder"],
        death_timeout=spec["start_timeout"],
        dashboard=False,
        dashboard_address="127.0.0.1:0",
    ) as worker:
        channel.send({"event": "ready"})
        await first_of(told_to_stop(channel), worker.finished())
        # The scheduler closes its workers in order; this one acts alone only if that does not come.
        await first_of(worker.finished(), asyncio.sleep(_SCHEDULER_CLOSES_SECONDS))
        await worker.close(executor_wait=False, reason="the job is over")
