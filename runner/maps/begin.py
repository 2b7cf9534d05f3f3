"""Where a map is done: in a batch job, on this machine, in this process, or on the cluster that is here."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runner.errors import LostError, PartialError, RunnerError, StartError, UsageError, WriteError
from runner.maps.job import Job, local_command, order_for, submit
from runner.maps.layout import Layout
from runner.maps.record import read_record
from runner.maps.runs import latest_run, taken

if TYPE_CHECKING:
    from distributed import Client

_PLACES = ("local", "debug")
_ERRORS = {error.exit_code: error for error in (LostError, PartialError, StartError, UsageError, WriteError)}


def check_place(job: Job | str | None, layout: Layout) -> None:
    """Refuse what cannot be, before anything is written.

    Raises
    ------
    UsageError
        If there is no such place, or no cluster here.
    RunnerError
        If a job script cannot be made.
    """
    if isinstance(job, Job):
        order_for(job, layout.folder.name, layout.folder)
    elif job is None:
        client_here()
    elif job not in _PLACES:
        raise UsageError(
            f"job={job!r} is no place for a map",
            'give runner.Job(...), "local", "debug", or nothing in a job',
        )


def begin(layout: Layout, job: Job | str | None, function: Callable[[Any], Any] | None = None) -> None:
    """Have done what is to be done of a map; return when it is submitted, or else when it is over.

    Parameters
    ----------
    layout : Layout
        The map.
    job : Job, str or None
        A batch job, ``"local"``, ``"debug"``, or the cluster that is here.
    function : callable, optional
        The map's, to be debugged.

    Raises
    ------
    PartialError
        If the time was over before all was done.
    RunnerError
        If it cannot be begun, or not be ended.
    """
    if isinstance(job, Job):
        submit(job, layout)
    elif job == "local":
        _run_local(layout)
    else:
        from runner.maps.run import run_map

        if job == "debug":
            run_map(layout, None, function=function)
        else:
            run_map(layout, client_here())


def client_here() -> Client:
    """Return the Dask client of this process: in a job of the runner there is always one.

    Raises
    ------
    UsageError
        If there is none: a map is not done in silence on whatever machine this is.
    """
    if "distributed" in sys.modules:
        from distributed.client import default_client

        with suppress(ValueError):
            client: Client = default_client()
            return client
    raise UsageError(
        "there is no cluster here to run a map on",
        'give job=runner.Job(nodes=..., time=...) for a batch job, or job="local" for this machine',
    )


def _run_local(layout: Layout) -> None:
    """Run a cluster of this machine's in processes of their own, as a batch job would be.

    They go on if this process is killed; who calls again meanwhile is told so.
    """
    command = [sys.executable, "-m", "runner", *local_command(layout.folder)]
    nowhere = subprocess.DEVNULL  # what it says at the end is for people who type
    with subprocess.Popen(command, stdout=nowhere) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.terminate()  # it has not heard of it, where no terminal told both of us
            process.wait()
            raise
    if code == 0 or (code == RunnerError.exit_code and _ended_with_failures(layout)):
        return
    run = latest_run(layout)
    if run is not None and run.is_alive(time.time()):  # ours has ended: this is another one
        raise taken(layout, run.title)
    unsaid = f"the map's process ended with {code}, and has said why above"
    raise _ERRORS.get(code, LostError)(run.problem if run is not None and run.problem else unsaid)


def _ended_with_failures(layout: Layout) -> bool:
    """Tell whether a map came to its end, some of it as failures: that is no error of the run."""
    from runner.maps.run import tally

    record = read_record(layout)
    now = tally(layout, record)
    return bool(now.failed) and (not now.left or record.on_error == "stop")
