"""What each component prints goes to a file of its own, though several run in the threads of one process.

``contextlib.redirect_stdout`` is for a whole process. Here the process's streams are replaced once by ones
that look which component the printing thread belongs to; a thread belongs to the component that started it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

_TAIL_BYTES = 1 << 14
_TAIL_LINES = 20
_ATTRIBUTE = "_runner_component_log"
_START = threading.Thread.start


class Log:
    """The file of one component's output; it is made when something is printed.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Write as a stream does; a disk that is full loses what was printed, not the component."""
        with self._lock, suppress(OSError):
            if self._file is None:
                self._file = self._path.open("a", buffering=1, errors="backslashreplace")
            self._file.write(text)
        return len(text)

    def close(self) -> None:
        """Close the file; a thread that the component left behind opens it again."""
        with self._lock:
            if self._file is not None:
                with suppress(OSError):  # a full disk, at the last moment
                    self._file.close()
                self._file = None


class _Divided:
    """A stream of the process that belongs to whichever component prints."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        log = _log_of(threading.current_thread())
        return self._stream.write(text) if log is None else log.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def captured(path: Path) -> Iterator[None]:
    """Send what this thread prints in the block, and threads that it starts, to a file."""
    _divide_streams()
    thread, log = threading.current_thread(), Log(path)
    before = _log_of(thread)
    setattr(thread, _ATTRIBUTE, log)
    try:
        yield
    finally:
        setattr(thread, _ATTRIBUTE, before)
        log.close()


def tail(path: Path) -> str:
    """Return the last lines of a file; empty if it is not there."""
    try:
        with path.open("rb") as file:
            file.seek(-min(_TAIL_BYTES, os.fstat(file.fileno()).st_size), os.SEEK_END)
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-_TAIL_LINES:])


def _divide_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, _Divided):
            setattr(sys, name, _Divided(stream))
    threading.Thread.start = _start_with_log  # type: ignore[method-assign, assignment]


def _start_with_log(thread: threading.Thread) -> None:
    setattr(thread, _ATTRIBUTE, _log_of(threading.current_thread()))
    _START(thread)


def _log_of(thread: threading.Thread) -> Log | None:
    return getattr(thread, _ATTRIBUTE, None)
