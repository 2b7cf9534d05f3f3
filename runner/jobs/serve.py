"""The job ``serve``: no program of its own, a cluster for clients elsewhere, until it is stopped or idle."""

from __future__ import annotations

import math
import time
from typing import Any

import click

from runner.jobs.commands import run_command
from runner.units import format_duration, parse_duration

_LOOK_SECONDS = 0.5


@click.command("serve")
@click.option("--idle", metavar="TIME", help="Stop after so long without a task. [default: never]")
def command(idle: str | None) -> None:
    """Keep the cluster for clients in other processes.

    Say where with runner --scheduler-file; they connect by runner.connect. It ends when a client calls
    Client.shutdown(), when it was idle for a time, or when it is stopped as any job.
    """
    serve(math.inf if idle is None else parse_duration(idle))


def run(args: tuple[str, ...]) -> int:
    """Run the job with arguments as on the command line.

    Raises
    ------
    UsageError
        If the arguments are wrong.
    """
    return run_command(command, args)


def serve(idle: float = math.inf) -> None:
    """Return when a client has shut the cluster down, or when it was `idle` seconds without a task."""
    from distributed import get_client

    from runner.launcher.speak import say

    client = get_client()
    began = time.monotonic()  # the scheduler was idle before, while the workers started
    while True:
        state = client.run_on_scheduler(_state)
        state["idle"] = min(state["idle"], time.monotonic() - began)
        if state["shut down"]:
            say("runner", "a client shut the cluster down")
            return
        if state["idle"] >= idle:
            say("runner", f"no task for {format_duration(state['idle'])}, the cluster stops")
            return
        time.sleep(_LOOK_SECONDS)


def _state(dask_scheduler: Any) -> dict[str, Any]:
    """Look at the scheduler, in its process."""
    since = dask_scheduler.check_idle()
    return {
        "idle": time.time() - since if since else 0.0,
        "shut down": bool(dask_scheduler.get_events("shutdown-asked")),
    }
