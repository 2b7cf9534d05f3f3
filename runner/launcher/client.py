"""The client's process: connects to the cluster, waits for the word, and runs the program as its main."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import traceback
from contextlib import suppress
from typing import Any

import dask
from distributed import Client
from distributed.comm.core import CommClosedError
from threadpoolctl import threadpool_limits

from runner.launcher import stand_ins
from runner.launcher.child import set_environment
from runner.launcher.exits import LOST
from runner.launcher.nursery import own_process_group
from runner.launcher.program import Program, run_to_the_end
from runner.launcher.speak import say


def run(connected: socket.socket, spec: dict[str, Any]) -> int:
    """Run the program and return its exit code.

    Parameters
    ----------
    connected : socket
        To the supervisor. Says ``ready``, then waits for a line before the program starts.
    spec : dict
        ``program``, ``scheduler`` address, ``environment``, ``dask`` settings, ``start_timeout``.
    """
    own_process_group()  # a job that signals its group, as some do to end their children, is not to end us
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGUSR1, signal.SIGUSR2):  # a batch system's warning kills no job that is not ready
        signal.signal(number, signal.SIG_IGN)
    set_environment(spec["environment"])
    threadpool_limits(len(os.sched_getaffinity(0)))  # the workers' BLAS has one thread, the job's has all
    dask.config.set({**spec["dask"], "scheduler-address": spec["scheduler"]})
    _be_quiet_about_lost_connections()
    # This client is the default one: a script that makes none still computes on the cluster, and
    # get_client() finds it. Client() in the script makes another, through the address above.
    try:
        client = Client(timeout=spec["start_timeout"])
    except OSError as error:  # it was killed just now, or the network does not let us through
        say("runner", f"the job's process cannot reach the scheduler at {spec['scheduler']}: {error}")
        return LOST
    connected.sendall(json.dumps({"event": "ready"}).encode() + b"\n")
    if not connected.recv(64):
        return 1  # the supervisor is gone
    stand_ins.install()
    try:
        return run_to_the_end(Program.from_message(spec["program"]))
    finally:
        with suppress(Exception):  # closed by its exit handler already, unless the job removed that
            client.close(timeout=1)


def _be_quiet_about_lost_connections() -> None:
    """Have Dask print no tracebacks when it loses the scheduler, or fails to reach it again.

    Rank 0 says that in a line, and what the job was waiting for raises an error in the job.
    """
    for name in ("distributed", "distributed.client"):  # those to which Dask gives handlers of their own
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(_tells_of_more)


def _tells_of_more(record: logging.LogRecord) -> bool:
    if not record.exc_info:
        return True
    _, error, trace = record.exc_info
    names = {frame.name for frame in traceback.extract_tb(trace)}
    return not (isinstance(error, CommClosedError) or "_reconnect" in names)
