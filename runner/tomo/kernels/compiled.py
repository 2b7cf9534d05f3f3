"""Who compiles the kernels, and who waits: one process of a host, for all jobs to come."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from runner.tomo.kernels.cache import cache_folder

_PATIENCE = 90  # seconds to wait for another process; then this one compiles as well
_log = logging.getLogger(__name__)


def ensure_compiled(kind: str, run: Callable[[], None]) -> None:
    """Have the kernels of one kind on disk.

    Parameters
    ----------
    kind : str
        Names them, also for the person who waits.
    run : callable
        Uses each of them once, which compiles what is not there.
    """
    done = cache_folder() / f"{kind}.done"
    if done.exists():
        return
    with _alone(cache_folder().name):
        if done.exists():
            return
        _log.warning(
            "compiling the %s kernels for this kind of processor, once for all jobs: "
            "up to 15 s on a free core; kept in %s",
            kind,
            done.parent,
        )
        started = time.monotonic()
        run()
        with contextlib.suppress(OSError):
            done.touch()
        _log.warning("compiled in %.0f s", time.monotonic() - started)


@contextlib.contextmanager
def _alone(name: str) -> Iterator[None]:
    """Let one process of this host through at a time; after a while, everyone.

    The lock lies in the host's own folder for temporary files, as not every shared file system has locks.
    """
    path = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}.lock"
    try:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        _wait(lock)
        yield
    finally:
        os.close(lock)  # which also unlocks it


def _wait(lock: int) -> None:
    end, told = time.monotonic() + _PATIENCE, False
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return
            if not told:
                _log.warning("another process of this host compiles the reconstruction, once for all jobs")
                told = True
            time.sleep(0.1)
        except OSError:  # no locks here
            return
        else:
            return
