"""What scheduler, worker and client have in common: their own log and their own line to the supervisor."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.launcher.channel import Channel
from runner.launcher.logs import FORMAT, to_screen


def log_to(path: str, screen: str = "") -> None:
    """Send all logging, and the stack of a crash, to a file of this process alone.

    If `screen` is given, log lines go to standard error as well, after that name.
    """
    file = Path(path).open("a", buffering=1)  # noqa: SIM115 - open as long as the process lives
    faulthandler.enable(file, all_threads=False)  # the thread that crashed says why; the others say little
    logging.raiseExceptions = False  # a full disk is no reason to write over the job's output
    handler = logging.StreamHandler(file)
    handler.setFormatter(logging.Formatter(FORMAT))
    # Dask gave its loggers handlers of their own when it was imported
    for name in ("distributed", "distributed.client", "bokeh", "tornado", "tornado.application"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger().handlers[:] = [handler, to_screen(screen)] if screen else [handler]
    logging.getLogger().setLevel(logging.INFO)
    logging.captureWarnings(capture=True)


def set_environment(values: Mapping[str, str | None]) -> None:
    """Set variables of this process; None removes one."""
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def dask_name(name: str) -> int | str:
    """Return a worker's name as Dask has it: a number where it is one, as other makers of clusters do.

    ``client.submit(..., workers=3)`` then means the worker of rank 3.
    """
    return int(name) if name.isdecimal() else name


async def told_to_stop(channel: Channel) -> None:
    """Return when the supervisor says stop, or is gone."""
    while (message := await channel.receive()) is not None:
        if message["op"] == "stop":
            return


async def first_of(*waits: Any) -> None:
    """Return when one of several awaitables is done; the others are cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
