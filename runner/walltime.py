"""The end of the job, for the job: how much time is left, and the word in time to save what there is.

Works in the job's own process, in tasks on workers, and in any process that a batch system or ``RUNNER_END``
tells the end. Light: needs neither Dask nor the launcher.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable

from runner.batch.detect import detect
from runner.batch.values import DRAIN_VARIABLE, number

DEFAULT_DRAIN = 60  # seconds before the end

_LOOK_SECONDS = 1.0  # the clock may be set while we wait


def time_left() -> float:
    """Return the seconds until the job is stopped.

    Returns
    -------
    float
        0 when the end has come; infinity when nobody knows of an end, so that ``time_left() > 60`` is true
        where nothing is limited.

    Raises
    ------
    UsageError
        If a variable of the batch system cannot be read.
    """
    ends_at = detect(os.environ).ends_at
    return math.inf if ends_at is None else max(0.0, ends_at - time.time())


def on_drain(hook: Callable[[], object]) -> None:
    """Have a function called when the job should begin to finish: ``--drain`` seconds before its end.

    Parameters
    ----------
    hook : callable
        Without arguments; called once, in a thread of its own that the process does not wait for. It is
        called at once if that moment has passed, and never if there is no end or ``--drain 0`` was said.
        An exception in it is printed, and changes nothing else.

    Raises
    ------
    UsageError
        If a variable of the batch system cannot be read.
    """
    if seconds_until_drain() < math.inf:
        threading.Thread(target=_call_in_time, args=(hook,), name="runner-drain", daemon=True).start()


def seconds_until_drain() -> float:
    """Return the seconds until :func:`on_drain` calls: 0 or less from then on, infinity if it never does."""
    before = number(os.environ, DRAIN_VARIABLE)
    before = DEFAULT_DRAIN if before is None else before
    return time_left() - before if before else math.inf


def _call_in_time(hook: Callable[[], object]) -> None:
    while (left := seconds_until_drain()) > 0:
        time.sleep(min(left, _LOOK_SECONDS))
    hook()
