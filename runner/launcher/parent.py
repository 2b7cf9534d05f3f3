"""When the launcher is gone, so are we: a killed mpirun or srun must leave no rank behind."""

from __future__ import annotations

import os
import select
import signal
import threading
import time

_LOOK_SECONDS = 0.5
_STANDARD_ERROR = 2


def stop_without_parent(parent: int) -> None:
    """Send this process SIGTERM, from a thread of its own, once its parent has ended.

    Parameters
    ----------
    parent : int
        The process that started this one; it may have ended already.

    Notes
    -----
    The kernel could do it (``PR_SET_PDEATHSIG``), but counts the end of the *thread* that started us
    as the parent's end, and launchers start ranks from threads.

    A launcher that was killed before we could ask for our parent's number has given us another parent. What
    it leaves is a standard error that nobody reads: launchers connect their ranks by pipes.
    """

    def watch() -> None:
        if not nobody_reads(_STANDARD_ERROR):
            wait_for_end_of(parent)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()


def nobody_reads(descriptor: int) -> bool:
    """Tell whether a descriptor is a pipe, or a terminal, whose other end is closed."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def wait_for_end_of(parent: int) -> None:
    """Wait until this process has another parent."""
    try:
        process = os.pidfd_open(parent)
    except (AttributeError, OSError):  # an old kernel, a parent outside of our container, or it is gone
        process = None
    while os.getppid() == parent:
        if process is None:
            time.sleep(_LOOK_SECONDS)
        else:
            select.select([process], [], [], 60.0)
