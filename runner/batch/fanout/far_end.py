"""The far end of the fan-out: starts one rank on its host, and lets it not outlive whoever started us.

A program of its own, run by its path: it imports nothing of the package, so that a hundred of them start at
once from a shared file system. It reads one line from its standard input, or from the file that it is given;
what follows on the standard input are numbers of signals for the rank, and its end is that of who started us.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL, when nobody is left to tell us more

_MISSING = 66  # EX_NOINPUT
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_THE_HOSTS_OWN = ("TMPDIR", "TMP", "CUDA_VISIBLE_DEVICES")  # a batch system may set them on each host


def main(arguments: list[str]) -> int:
    """Run one rank, and return its exit code as a shell counts."""
    # Grid Engine warns every process; the rank knows what to do
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda _number, _frame: None)
    told = json.loads(Path(arguments[0]).read_bytes() if arguments else _read_line())
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # until there is a rank to be ended
    try:
        rank = _start(told)
    except OSError as error:
        sys.stderr.write(f"runner: {os.uname().nodename}: {told['argv'][0]} cannot be started: {error}\n")
        return _MISSING
    for number in _ENDING:
        signal.signal(number, lambda _number, _frame: _end(rank))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    if not arguments:
        threading.Thread(target=_obey, args=(rank,), daemon=True).start()
    code = rank.wait()
    _signal(rank, signal.SIGKILL)  # what it may have left behind
    return 128 - code if code < 0 else code


def _start(told: dict[str, Any]) -> subprocess.Popen[bytes]:
    own = {name: os.environ[name] for name in _THE_HOSTS_OWN if name in os.environ}
    return subprocess.Popen(
        told["argv"],
        env={**os.environ, **told["environ"], **own},
        cwd=told["folder"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_prepare,  # noqa: PLW1509  (no thread runs yet)
    )


def _prepare() -> None:
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def _read_line() -> bytes:
    """Read one line and not a byte more."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            sys.exit(_MISSING)
        line += piece
    return line


def _obey(rank: subprocess.Popen[bytes]) -> None:
    """Pass signals on, and end the rank when nobody is there any more who would send them."""
    with os.fdopen(0, "rb", buffering=0) as orders:
        for order in orders:
            _signal(rank, int(order))
    _end(rank)


def _end(rank: subprocess.Popen[bytes]) -> None:
    _signal(rank, signal.SIGTERM)
    timer = threading.Timer(GRACE_SECONDS, _signal, (rank, signal.SIGKILL))
    timer.daemon = True
    timer.start()


def _signal(rank: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(rank.pid, number)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when its parent dies."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
