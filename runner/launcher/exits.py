"""Exit codes: what a process's end means, in numbers for the batch system and in words for people."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn

LOST = 70  # a role was lost beyond repair (EX_SOFTWARE)
_LAST_WORD_SECONDS = 5.0  # for an MPI library to take leave of its launcher


def exit_code(wait_status: int) -> int:
    """Turn the status of ``waitpid`` into the code that a shell would report: 128 + n for signal n."""
    if os.WIFSIGNALED(wait_status):
        return 128 + os.WTERMSIG(wait_status)
    return os.WEXITSTATUS(wait_status)


def describe(code: int) -> str:
    """Say in words how a process ended.

    >>> describe(137)
    'killed by signal 9 (SIGKILL)'
    >>> describe(3)
    'ended with exit code 3'
    """
    if code > 128:
        try:
            name = signal.Signals(code - 128).name
        except ValueError:
            return f"ended with exit code {code}"
        return f"killed by signal {code - 128} ({name})"
    return f"ended with exit code {code}"


def leave(code: int) -> NoReturn:
    """End this process at once: nothing is left to be done, and an interpreter takes its time to forget.

    Notes
    -----
    An MPI library has its last word when the C library ends the process: MPICH 5 takes leave of its
    launcher there, not in ``MPI_Finalize``, and ``mpirun`` kills the ranks that still have something to do
    when one goes without a word.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader has gone
            stream.flush()
    if "mpi4py.MPI" in sys.modules:
        import ctypes

        late = threading.Timer(_LAST_WORD_SECONDS, os._exit, (code,))  # its launcher may not listen any more
        late.daemon = True
        late.start()
        ctypes.CDLL(None).exit(code)
    os._exit(code)
