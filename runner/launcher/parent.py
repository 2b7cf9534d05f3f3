"""When the launcher is gone, so are we: a killed mpirun or srun must leave no rank behind."""

from __future__ import annotations

import os
import select
import signal
import stat
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

_LOOK_SECONDS = 0.5
_LONGEST_MILLISECONDS = 60_000  # between two looks where the kernel tells
_STANDARD_ERROR = 2


def stop_without_parent(parent: int, environ: Mapping[str, str]) -> None:
    """Send this process SIGTERM, from a thread of its own, once its parent has ended.

    Parameters
    ----------
    parent : int
        The process that started this one; it may have ended already.
    environ : mapping
        This process's environment.

    Notes
    -----
    The kernel could do it (``PR_SET_PDEATHSIG``), but counts the end of the *thread* that started us
    as the parent's end, and launchers start ranks from threads.

    A launcher that was killed before we could ask for our parent's number has given us another parent; see
    `has_left`.
    """

    def watch() -> None:
        if not has_left(environ):
            wait_for_end_of(parent)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()


def has_left(environ: Mapping[str, str]) -> bool:
    """Tell from what a launcher leaves whether ours had ended before this process looked for it.

    That is a standard error that nobody reads, where it is a pipe or a terminal, and a socket of MPICH and
    Intel MPI: there one rank holds the ends of another's pipes.
    """
    number = environ.get("PMI_FD", "")
    return is_broken(_STANDARD_ERROR) or (number.isdecimal() and is_broken(int(number), sockets_only=True))


def is_broken(descriptor: int, *, sockets_only: bool = False) -> bool:
    """Tell whether a descriptor is a pipe, a socket or a terminal whose other end is closed."""
    with suppress(OSError, OverflowError):
        if sockets_only and not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return False
        poll = select.poll()
        poll.register(descriptor, 0)
        return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    return False


def wait_for_end_of(parent: int) -> None:
    """Wait until this process has another parent."""
    ended = select.poll()
    try:
        ended.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):  # an old kernel, a parent outside of our container, or it is gone
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
    while os.getppid() == parent:
        ended.poll(_LONGEST_MILLISECONDS)
