"""A job whose main program is over may still have threads, and Python waits for them: say for which."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from runner.launcher.speak import say
from runner.listing import few

_PATIENCE_SECONDS = 3.0
_NAMED = 5  # more than these are counted


@contextmanager
def name_threads_waited_for() -> Iterator[None]:
    """Name the threads that the end of the job waits for, if that takes more than a moment."""
    timer = threading.Timer(_PATIENCE_SECONDS, _say_which)
    timer.daemon = True  # nobody waits for this one
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say_which() -> None:
    main = threading.main_thread()
    names = [thread.name for thread in threading.enumerate() if not thread.daemon and thread is not main]
    if names:
        say("runner", describe(names))


def describe(names: list[str]) -> str:
    """Say that the job's threads are waited for.

    >>> describe(["reader"])
    "the job's program is over, its thread 'reader' is not: waiting for it, as Python does"
    """
    listed = few([repr(name) for name in names], _NAMED)
    if len(names) == 1:
        return f"the job's program is over, its thread {listed} is not: waiting for it, as Python does"
    return f"the job's program is over, its threads {listed} are not: waiting for them, as Python does"
