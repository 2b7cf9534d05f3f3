"""Exit codes: what a process's end means, in numbers for the batch system and in words for people."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

LOST = 70  # a role was lost beyond repair (EX_SOFTWARE)


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
    """End this process at once: nothing is left to be done, and an interpreter takes its time to forget."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader has gone
            stream.flush()
    os._exit(code)
